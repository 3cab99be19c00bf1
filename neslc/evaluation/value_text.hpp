// Values and their results lines as text (reference, section 7).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "cvl/backend.hpp"
#include "machine/format.hpp"
#include "neslc/front/types.hpp"
#include "vcode/instruction.hpp"

namespace neslc {

/// One vector of a value in host memory; of a descriptor, its lengths.
using Column =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::uint8_t>>;

/// Its first elements, not more than `most`.
Column download(cvl::Backend& backend, const cvl::Value& value,
                std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A value as a constant of a program text.
vcode::Constant literal_of(cvl::Backend& backend, const cvl::Value& value);

struct TextOptions {
  std::size_t print_length = 100;  // elements of a sequence that are shown
  bool one_line = false;           // newlines and tabs in strings as \n and \t
  bool exact_floats = false;       // as many digits as tell a number from all others
};

/// The shortest text of a number with 15 significant digits, or of exactly that number.
std::string float_text(double value, bool exact = false);

/// Sends the text of the value of `type` that these vectors make up to the sink, piece by piece as
/// it is made. Only what is shown is fetched. Characters that a terminal could not show are written
/// as escapes. Throws Failure as Backend::download does.
void write_value_text(TypeTable& types, TypePtr type, cvl::Backend& backend,
                      const std::vector<cvl::Value>& values, const TextOptions& options,
                      const vinterp::TextSink& sink);

}  // namespace neslc
