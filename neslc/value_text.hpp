// Values and their results lines as text (reference, section 7).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "cvl/backend.hpp"
#include "neslc/types.hpp"
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
};

/// The shortest text of a number with 15 significant digits.
std::string float_text(double value);

/// The value of `type` that these vectors make up. Only what is shown is fetched.
std::string value_text(TypeTable& types, TypePtr type, cvl::Backend& backend,
                       const std::vector<cvl::Value>& values, const TextOptions& options);

}  // namespace neslc
