// Why a name that the program binds somewhere means nothing where it is used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neslc/front/parser.hpp"
#include "neslc/front/typed.hpp"

namespace neslc {

class MissingNames {
 public:
  /// The forms of a text, before the first of them is checked.
  void announce(const std::vector<ParsedForm>& forms);
  /// The definition of these names has an error.
  void reject(const ast::Form& form);
  /// The value that these names should have could not be computed.
  void fail(const ast::Form& form);
  /// The names bound inside a definition or an expression are known there only.
  void keep_inside(const Body& body);
  /// The name means something now.
  void forget(const std::string& name) { places_.erase(name); }

  /// The reason, as a hint for a use in this text, inside the definition of `enclosing` if that is
  /// not empty. Empty if no form binds the name.
  std::string explain(std::string_view name, const vcode::Source& use,
                      const std::string& enclosing) const;

 private:
  enum class Reason : std::uint8_t { Later, Rejected, Failed, Inside };
  struct Place {
    Reason reason = Reason::Later;
    std::shared_ptr<const vcode::Source> source;
    std::uint32_t line = 0;
    std::string_view text;  // of the form that comes later
  };

  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace neslc
