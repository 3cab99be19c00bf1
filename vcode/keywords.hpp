// The words of VCODE that are not operations, and the nearest known word to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vcode/opcodes.hpp"
#include "vcode/types.hpp"

namespace vcode {

/// A standard stream as it is written in `CONST INT STDOUT`.
struct StreamName {
  std::string_view text;
  int number;
};
std::span<const StreamName> stream_names();
std::optional<int> find_stream(std::string_view word);

/// The type of that name that a program can write: all but PAIR.
std::optional<Type> find_type(std::string_view word);

/// True for words that cannot name functions or kernels. The words of FCODE can, as in files that
/// were written before it: after FUNC, CALL, KERNEL and RUN a name is expected anyway.
bool is_reserved(std::string_view word);

/// Number of inserted, removed, replaced or exchanged neighbouring characters, not regarding case;
/// `limit + 1` stands for anything above the limit.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// Finds the candidate that is nearest to a word, if one is near enough to be meant.
class NearestWord {
 public:
  explicit NearestWord(std::string_view word);
  void consider(std::string_view candidate);
  /// The best candidate so far; empty if none is near.
  std::string_view best() const { return best_; }

 private:
  std::string_view word_;
  std::string_view best_;
  std::size_t limit_;
};

/// What was probably meant by an unknown word: an operation, FUNC, or an operation and its type
/// that were run together, as in `+INT`. Empty if nothing is near.
std::string nearest_operation(std::string_view word);

}  // namespace vcode
