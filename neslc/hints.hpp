// What to do about mistakes that people make who know other languages, or NESL for a day.
#pragma once

#include <string>
#include <string_view>

#include "neslc/types.hpp"

namespace neslc {

/// For a name that is not defined but means something elsewhere, as `len`; empty if it does not.
std::string hint_for_name(std::string_view name);

/// For text that is no token or stands where none like it can stand: the marks there and behind it,
/// as `!=` or `&&`; empty if they mean nothing elsewhere.
std::string hint_for_mark(std::string_view text);

/// For an operation whose operands have the wrong types (one operand: `second` is null). `function`
/// is the library's name for it, types are resolved. Empty if none helps.
std::string hint_for_operands(std::string_view function, TypePtr first, TypePtr second);

}  // namespace neslc
