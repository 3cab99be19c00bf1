// Raising the errors of the checker.
#pragma once

#include <string>
#include <vector>

#include "neslc/front/inference.hpp"
#include "neslc/front/static_error.hpp"
#include "neslc/front/token_stream.hpp"
#include "neslc/front/types.hpp"

namespace neslc {

/// Throws `Failure`. Source and place ("function f") are added by the form's checker.
[[noreturn]] void fail(Category category, std::string name, vcode::Span span, std::string message,
                       std::vector<vcode::Note> notes = {}, std::string hint = {});

/// `t`, `f` or `time` where a name is defined.
[[noreturn]] void fail_reserved(const std::string& name, vcode::Span span);

/// A type that takes part in a clash, and where it came from: `what` is a value of that type.
struct Evidence {
  std::string what;  // "the first element", "`x + 1`"
  TypePtr type;
  vcode::Span span;  // none: nothing to show
};

/// Throws a type error with the evidence as notes, in words or, if these do not tell the types
/// apart, as they are written. The notes that follow explain the evidence; `hint` is shown where
/// the clash itself has none.
[[noreturn]] void fail_clash(Inference::Clash clash, vcode::Span span, std::string message,
                             const std::vector<Evidence>& evidence,
                             std::vector<vcode::Note> more_notes = {}, std::string hint = {});

}  // namespace neslc
