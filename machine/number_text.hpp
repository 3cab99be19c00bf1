// Numbers that stand in a text as words, which blanks, tabs and line ends separate.
//
// Threads of the library share texts and vectors that are long enough. What is read, and which
// error is told, does not depend on it.
#pragma once

#include <cstdint>
#include <string>

#include "cvl/backend.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/format.hpp"
#include "machine/number_block.hpp"
#include "machine/numbers.hpp"

namespace vinterp {

/// Reads numbers until there are `most`. Sets `ended` at the end of the input; returns what is
/// wrong, or nothing. Element: that of INT or FLOAT in one of their widths.
/// Throws Failure (OutOfMemory).
template <class Element>
std::string read_words(cvl::Backend& backend, std::int64_t most, InputBuffer& input,
                       NumberPlace& place, NumberBlock<Element>& numbers, bool& ended);

/// Sends all elements of a vector to the sink, each on a line of its own, so that reading them
/// gives the same numbers. Ends when the sink refuses. Throws Failure as Backend::download does.
/// REQUIRES: Element is the type of the elements.
template <class Element>
void write_lines(cvl::Backend& backend, const cvl::Vector& vector, const TextSink& sink);

}  // namespace vinterp
