// Numbers that a program reads and writes many at a time: as text, or as their bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cvl/backend.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/format.hpp"

namespace vinterp {

/// How numbers stand in a file.
struct NumberForm {
  enum class Kind : std::uint8_t {
    Text,  // words that blanks, tabs and line ends separate; each is written on a line of its own
    Signed,
    Unsigned,
    Float,
  };

  Kind kind = Kind::Text;
  int bytes = 0;  // that a number has, if it is not text: 1, 2, 4 or 8
  bool big_endian = false;

  /// What the text names: `text`, or as numpy does, `<i4`, `>f8`, `|u1`.
  static std::optional<NumberForm> named(std::string_view name);
  /// Can it be that of numbers of this type, INT or FLOAT?
  bool fits(vcode::Type type) const;
};

/// How far the numbers of a stream have been read: messages name it.
struct NumberPlace {
  std::int64_t line = 1;
  std::int64_t number = 0;  // so many have been read
};

struct NumbersRead {
  cvl::Vector values;  // none if there is an error
  bool ended = false;  // there are no more
  std::string error;
};

/// The next numbers, `most` at most. Integers in texts are taken modulo the width of INT, as in
/// programs; floats are rounded to the nearest.
/// REQUIRES: form.fits(type), 0 <= most. Throws Failure (OutOfMemory).
NumbersRead read_numbers(cvl::Backend& backend, vcode::Type type, const NumberForm& form,
                         std::int64_t most, InputBuffer& input, NumberPlace& place);

/// Sends all elements to the sink; a FLOAT in as many digits as tell it from others. Ends when the
/// sink refuses. Returns what is wrong with an element, or nothing.
/// REQUIRES: form.fits(the vector's type). Throws Failure as Backend::download does.
std::string write_numbers(cvl::Backend& backend, const cvl::Vector& vector, const NumberForm& form,
                          const TextSink& sink);

}  // namespace vinterp
