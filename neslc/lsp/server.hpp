// A language server: what editors ask about NESL programs, by the Language Server Protocol 3.17.
//
// Documents are checked whenever they change; nothing of them is run. No message, however wrong,
// ends the server but `exit`, the end of the input, and one that cannot be separated from the next.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "neslc/lsp/document.hpp"
#include "neslc/lsp/json.hpp"

namespace neslc::lsp {

class Server {
 public:
  /// Both streams must outlive the server.
  Server(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Answers until the end. Returns the exit status: 0 after `shutdown` and `exit`, else 1.
  int run();

 private:
  /// Thrown by a request that cannot be answered.
  struct Refusal {
    int code;
    std::string message;
  };
  template <class Result>
  struct Method {
    std::string_view name;
    Result (Server::*handler)(const Json& parameters);
  };
  static const Method<Json> kRequests[];
  static const Method<void> kNotifications[];

  void answer_request(const Json& id, const std::string& method, const Json& parameters);
  void take_notification(const std::string& method, const Json& parameters);
  void refuse(const Json& id, int code, const std::string& message);

  Json initialize(const Json& parameters);
  Json shut_down(const Json& parameters);
  Json hover(const Json& parameters);
  Json definition(const Json& parameters);
  Json symbols(const Json& parameters);
  Json completion(const Json& parameters);

  void opened(const Json& parameters);
  void changed(const Json& parameters);
  void closed(const Json& parameters);

  void set_text(const std::string& uri, const std::string& text);
  void publish(const std::string& uri, Json::Array errors);
  Document& document(const Json& parameters);

  std::istream& in_;
  std::ostream& out_;
  std::map<std::string, Document> documents_;  // by URI
  bool initialized_ = false;
  bool shut_down_ = false;
};

}  // namespace neslc::lsp
