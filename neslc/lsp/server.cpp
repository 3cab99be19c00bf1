#include "neslc/lsp/server.hpp"

#include <algorithm>
#include <exception>
#include <istream>
#include <ostream>

#include "cli/build_info.hpp"
#include "neslc/lsp/message_stream.hpp"
#include "neslc/lsp/unicode.hpp"
#include "neslc/lsp/uri.hpp"

namespace neslc::lsp {
namespace {

// Error codes of JSON-RPC and of the protocol.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParameters = -32602;
constexpr int kInternalError = -32603;
constexpr int kNotInitialized = -32002;

// Numbers of the protocol.
constexpr int kFullSync = 1;
constexpr int kErrorSeverity = 1, kWarningSeverity = 2;
constexpr int kSymbolFunction = 12, kSymbolVariable = 13, kSymbolStruct = 23;
constexpr int kItemFunction = 3, kItemConstructor = 4, kItemVariable = 6, kItemWord = 14,
              kItemStruct = 22;

/// More would not be read, and an editor takes long for them.
constexpr std::size_t kMostErrors = 200;

// ---- Places: lines count from 0, columns in units of UTF-16

Json position(const vcode::Source& source, std::uint32_t line, std::size_t bytes) {
  const auto units = static_cast<std::int64_t>(utf16_units(source.line(line), bytes));
  return Json::Object{{"line", line - 1}, {"character", units}};
}

Json range(const vcode::Source& source, vcode::Span span) {
  const std::size_t begin = span.column - 1;
  return Json::Object{{"start", position(source, span.line, begin)},
                      {"end", position(source, span.line, begin + span.length)}};
}

/// Between two offsets.
Json range(const vcode::Source& source, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t offset) {
    std::uint32_t low = 1, high = source.line_count();
    const auto start = [&](std::uint32_t line) {
      return static_cast<std::size_t>(source.line(line).data() - source.text().data());
    };
    while (low < high) {
      const std::uint32_t middle = low + (high - low + 1) / 2;
      if (start(middle) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return position(source, low, offset - start(low));
  };
  return Json::Object{{"start", at(begin)}, {"end", at(end)}};
}

struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;  // in bytes
};

std::int64_t number(const Json& json) {
  const std::int64_t* const value = json.integer();
  return value == nullptr ? -1 : *value;
}

/// A place behind the end of its line is the end of the line, and one behind the last line the end
/// of the text.
Place place_in(const vcode::Source& source, const Json& position) {
  const std::int64_t line = number(position["line"]), units = number(position["character"]);
  const std::uint32_t lines = source.line_count();
  if (line < 0 || units < 0) return {};
  if (line >= lines) {
    return {lines, static_cast<std::uint32_t>(source.line(lines).size() + 1)};
  }
  const auto found = static_cast<std::uint32_t>(line + 1);
  const std::size_t bytes = byte_at(source.line(found), static_cast<std::size_t>(units));
  return {found, static_cast<std::uint32_t>(bytes + 1)};
}

// ---- Parts of answers

std::string message_of(const vcode::Diagnostic& diagnostic) {
  std::string text = diagnostic.message;
  for (const vcode::Note& note : diagnostic.notes) {
    if (!note.span) text += "\nnote: " + note.text;
  }
  if (!diagnostic.hint.empty()) text += "\nhelp: " + diagnostic.hint;
  return text;
}

Json diagnostic_of(const Document& document, const std::string& uri,
                   const vcode::Diagnostic& diagnostic) {
  const vcode::Source& source = document.source();
  Json::Array related;
  for (const vcode::Note& note : diagnostic.notes) {
    if (!note.span) continue;
    related.push_back(
        Json::Object{{"location", Json::Object{{"uri", uri}, {"range", range(source, note.span)}}},
                     {"message", note.text}});
  }
  // A place at the end of the text has no characters, and would not be seen.
  vcode::Span span = diagnostic.span;
  span.length = std::max(span.length, 1U);
  return Json::Object{
      {"range", range(source, span)},
      {"severity",
       diagnostic.severity == vcode::Severity::Error ? kErrorSeverity : kWarningSeverity},
      {"code", vcode::info(diagnostic.code).id},
      {"source", "nesl"},
      {"message", message_of(diagnostic)},
      {"relatedInformation", std::move(related)}};
}

int symbol_kind(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::Function:
      return kSymbolFunction;
    case DefinitionKind::Constructor:
      return kSymbolStruct;
    default:
      return kSymbolVariable;
  }
}

int item_kind(Document::Candidate::Kind kind) {
  using Kind = Document::Candidate::Kind;
  switch (kind) {
    case Kind::Function:
      return kItemFunction;
    case Kind::Constructor:
      return kItemConstructor;
    case Kind::Variable:
      return kItemVariable;
    case Kind::Type:
      return kItemStruct;
    default:
      return kItemWord;
  }
}

Json markdown(const std::string& code, const std::string& text) {
  std::string value = "```nesl\n" + code + "\n```";
  if (!text.empty()) value += "\n\n```text\n" + text + "\n```";
  return Json::Object{{"kind", "markdown"}, {"value", std::move(value)}};
}

}  // namespace

const Server::Method<Json> Server::kRequests[] = {
    {"initialize", &Server::initialize},
    {"shutdown", &Server::shut_down},
    {"textDocument/hover", &Server::hover},
    {"textDocument/definition", &Server::definition},
    {"textDocument/documentSymbol", &Server::symbols},
    {"textDocument/completion", &Server::completion},
};

const Server::Method<void> Server::kNotifications[] = {
    {"textDocument/didOpen", &Server::opened},
    {"textDocument/didChange", &Server::changed},
    {"textDocument/didClose", &Server::closed},
};

// ---- The conversation

int Server::run() {
  while (const std::optional<std::string> content = read_message(in_)) {
    const std::optional<Json> message = Json::parse(*content);
    if (!message) {
      refuse({}, kParseError, "the message is not JSON");
      continue;
    }
    const std::string* const method = (*message)["method"].string();
    const Json& id = (*message)["id"];
    if (method == nullptr) {
      // The server asks nothing, so an answer is as wrong as anything else.
      refuse(id, kInvalidRequest, "the message has no method");
    } else if (*method == "exit") {
      return shut_down_ ? 0 : 1;
    } else if (!id.is_null()) {
      answer_request(id, *method, (*message)["params"]);
    } else if (initialized_) {
      take_notification(*method, (*message)["params"]);
    }
  }
  return 1;
}

void Server::answer_request(const Json& id, const std::string& method, const Json& parameters) {
  if (!initialized_ && method != "initialize") {
    return refuse(id, kNotInitialized, "`initialize` comes first");
  }
  if (shut_down_) return refuse(id, kInvalidRequest, "the server has been shut down");
  const auto* const found =
      std::find_if(std::begin(kRequests), std::end(kRequests),
                   [&](const auto& candidate) { return candidate.name == method; });
  if (found == std::end(kRequests)) {
    return refuse(id, kMethodNotFound, "there is no method `" + method + "`");
  }
  try {
    Json result = (this->*found->handler)(parameters);
    write_message(out_,
                  Json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  } catch (const Refusal& refusal) {
    refuse(id, refusal.code, refusal.message);
  } catch (const std::exception& error) {
    refuse(id, kInternalError, error.what());
  }
}

/// Nobody waits for an answer, so that faults have no consequences but that nothing changes.
void Server::take_notification(const std::string& method, const Json& parameters) {
  const auto* const found =
      std::find_if(std::begin(kNotifications), std::end(kNotifications),
                   [&](const auto& candidate) { return candidate.name == method; });
  if (found == std::end(kNotifications)) return;
  try {
    (this->*found->handler)(parameters);
  } catch (const Refusal&) {
  } catch (const std::exception&) {
  }
}

void Server::refuse(const Json& id, int code, const std::string& message) {
  write_message(out_, Json::Object{{"jsonrpc", "2.0"},
                                   {"id", id},
                                   {"error", Json::Object{{"code", code}, {"message", message}}}});
}

Json Server::initialize(const Json&) {
  if (initialized_) throw Refusal{kInvalidRequest, "the server has been initialized"};
  initialized_ = true;
  const Json::Object sync{{"openClose", true}, {"change", kFullSync}};
  return Json::Object{
      {"capabilities", Json::Object{{"positionEncoding", "utf-16"},
                                    {"textDocumentSync", sync},
                                    {"hoverProvider", true},
                                    {"definitionProvider", true},
                                    {"documentSymbolProvider", true},
                                    {"completionProvider", Json::Object{}}}},
      {"serverInfo", Json::Object{{"name", "nesl"}, {"version", vinterp::kBuildInfo.version}}}};
}

Json Server::shut_down(const Json&) {
  shut_down_ = true;
  return {};
}

// ---- Documents

void Server::opened(const Json& parameters) {
  const Json& opened = parameters["textDocument"];
  const std::string* const uri = opened["uri"].string();
  const std::string* const text = opened["text"].string();
  if (uri != nullptr && text != nullptr) set_text(*uri, *text);
}

/// Each change is the whole text; the last one counts.
void Server::changed(const Json& parameters) {
  const std::string* const uri = parameters["textDocument"]["uri"].string();
  const Json::Array* const changes = parameters["contentChanges"].array();
  if (uri == nullptr || changes == nullptr || changes->empty()) return;
  const std::string* const text = changes->back()["text"].string();
  if (text != nullptr && changes->back()["range"].is_null()) set_text(*uri, *text);
}

void Server::closed(const Json& parameters) {
  const std::string* const uri = parameters["textDocument"]["uri"].string();
  if (uri == nullptr || documents_.erase(*uri) == 0) return;
  publish(*uri, {});
}

void Server::set_text(const std::string& uri, const std::string& text) {
  documents_.erase(uri);
  const Document& document = documents_.try_emplace(uri, uri, text).first->second;
  Json::Array errors;
  for (const vcode::Diagnostic& error : document.errors()) {
    if (errors.size() == kMostErrors) break;
    errors.push_back(diagnostic_of(document, uri, error));
  }
  publish(uri, std::move(errors));
}

void Server::publish(const std::string& uri, Json::Array errors) {
  write_message(
      out_,
      Json::Object{{"jsonrpc", "2.0"},
                   {"method", "textDocument/publishDiagnostics"},
                   {"params", Json::Object{{"uri", uri}, {"diagnostics", std::move(errors)}}}});
}

Document& Server::document(const Json& parameters) {
  const std::string* const uri = parameters["textDocument"]["uri"].string();
  const auto found = uri == nullptr ? documents_.end() : documents_.find(*uri);
  if (found == documents_.end()) throw Refusal{kInvalidParameters, "no such document is open"};
  return found->second;
}

// ---- Questions

Json Server::hover(const Json& parameters) {
  const Document& asked = document(parameters);
  const Place place = place_in(asked.source(), parameters["position"]);
  const auto meaning = asked.meaning(place.line, place.column);
  if (!meaning) return {};
  return Json::Object{{"contents", markdown(meaning->type, meaning->text)},
                      {"range", range(asked.source(), meaning->span)}};
}

Json Server::definition(const Json& parameters) {
  const Document& asked = document(parameters);
  const Place place = place_in(asked.source(), parameters["position"]);
  const auto meaning = asked.meaning(place.line, place.column);
  if (!meaning || meaning->definition.source == nullptr) return {};
  const vcode::Source& source = *meaning->definition.source;
  const bool here = &source == &asked.source();
  return Json::Object{{"uri", here ? source.name() : uri_of(source.name())},
                      {"range", range(source, meaning->definition.span)}};
}

Json Server::symbols(const Json& parameters) {
  const Document& asked = document(parameters);
  Json::Array result;
  for (const Document::Symbol& symbol : asked.symbols()) {
    result.push_back(Json::Object{{"name", symbol.name},
                                  {"detail", symbol.type},
                                  {"kind", symbol_kind(symbol.kind)},
                                  {"range", range(asked.source(), symbol.begin, symbol.end)},
                                  {"selectionRange", range(asked.source(), symbol.span)}});
  }
  return result;
}

Json Server::completion(const Json& parameters) {
  Document& asked = document(parameters);
  const Place place = place_in(asked.source(), parameters["position"]);
  Json::Array items;
  for (const Document::Candidate& candidate : asked.candidates(place.line, place.column)) {
    Json::Object item{{"label", candidate.name}, {"kind", item_kind(candidate.kind)}};
    if (!candidate.type.empty()) item["detail"] = candidate.type;
    if (!candidate.documentation.empty()) item["documentation"] = candidate.documentation;
    items.emplace_back(std::move(item));
  }
  return items;
}

}  // namespace neslc::lsp
