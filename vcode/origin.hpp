// Comments of a program text that say which place of another text the code was made from.
//
//   COPY 1 0 * INT                      { squares.nesl:3:12 squares }
//
// Such a comment ends a line and holds for the instructions of its line and of the lines below, up
// to the next one or the end of the function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vcode/source.hpp"

namespace vcode {

struct Origin {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function;  // empty: no function
};

/// The text of the comment, without braces; characters that would spoil it are replaced.
std::string origin_comment(const Origin& origin);

/// The place that the code of line `number` comes from, if a comment says it.
std::optional<Origin> origin_of(const Source& source, std::uint32_t number);

}  // namespace vcode
