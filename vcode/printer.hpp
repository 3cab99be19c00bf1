// Program to text.
#pragma once

#include <string>
#include <vector>

#include "vcode/program.hpp"

namespace vcode {

/// For each instruction of each function a comment that its line ends with; empty: none.
using Comments = std::vector<std::vector<std::string>>;

/// A readable text of the program, from which parse() makes the same program again; reals are
/// written with the fewest digits that give back the same bits.
///
/// REQUIRES: what parse() delivers, and so no NaN, no double quote in constants of form String, and
/// kernels only in a program that has `fcode`. Comments contain neither braces nor line ends.
std::string print(const Program& program, const Comments& comments = {});

/// One instruction on one line, for traces and messages: names and the first few elements of a
/// constant are filled in from the linked program.
std::string print(const Instruction& instruction, const LinkedProgram& program);

/// One real number as program text, for example `1.0`, `-2.5e+100`; infinity is `1.0e400`.
std::string print_real(double value);

}  // namespace vcode
