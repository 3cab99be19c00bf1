// The index of errors, docs/errors.md, which is part of the program.
#pragma once

#include <string_view>

namespace neslc {

/// What the index says about a code like `E0102`, in any case; empty if there is no such code.
std::string_view explained_error(std::string_view code);

}  // namespace neslc
