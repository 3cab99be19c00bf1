// What to do about words and marks of other languages.
#pragma once

#include <string>
#include <string_view>

namespace neslc {

/// For a name that is not defined but means something elsewhere, as `len`; empty if it does not.
std::string hint_for_name(std::string_view name);

/// Does the name stand for `else if` elsewhere, as `elif`?
bool is_else_if(std::string_view name);

/// For the name of a type in other languages, as `string`; empty if it is none.
std::string hint_for_type(std::string_view name);

/// For a word that begins a statement elsewhere, as `for`, where the grammar fails behind it; empty
/// if it begins none.
std::string hint_for_statement(std::string_view word);

/// For a word that stands left of `=` elsewhere, as `var` in `var x = 5`; empty if it does not.
std::string hint_for_left_word(std::string_view word);

/// A mark of another language at the beginning of a text, as `!=`, and what NESL has instead. Both
/// are empty if there is none.
struct ForeignMark {
  std::string_view mark;
  std::string_view hint;
};
ForeignMark foreign_mark(std::string_view text);

}  // namespace neslc
