// Errors that the compiler finds: the categories of reference 8.2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vcode/diagnostics.hpp"

namespace neslc {

enum class Category : std::uint8_t {
  Syntax,
  Type,
  Undefined,
  Repeated,
  Reserved,
  Builtin,
  NoBody,
  UnknownType,
  SerialOnly,
  Pattern,
  Argument,
  Stream,
};

vcode::ErrorCode error_code(Category category);

/// The one error of a form. The form is rejected, and nothing is bound.
struct StaticError {
  Category category = Category::Syntax;
  std::string name;   // the name that belongs to the category, where it has one
  std::string where;  // "function f" or "datatype d"; empty at top level
  std::shared_ptr<const vcode::Source> source;  // of the diagnostic's spans
  vcode::Diagnostic diagnostic;                 // for people; `vcode::render` shows it
};

/// The line of a transcript: `STATIC ERROR in function g: undefined y`.
std::string transcript_line(const StaticError& error);

}  // namespace neslc
