// Random programs over long vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace neslc::random_test {

/// The forms of a program, one a line, the last of which is the expression that it is about. Its
/// vectors have about `length` elements, which the program computes; some of the lengths it knows
/// when it is compiled, others it does not. Equal seeds give equal programs. Sums of FLOAT need not
/// be exact: they are the same bits whatever runs them.
std::vector<std::string> long_program(std::uint64_t seed, std::int64_t length);

}  // namespace neslc::random_test
