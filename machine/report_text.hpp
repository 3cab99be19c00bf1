// Numbers as reports show them.
#pragma once

#include <cstdint>
#include <string>

#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// "1.234 s", "56.70 ms", "8.90 us".
std::string format_seconds(double seconds);

/// At most eight characters: "1234567", "12.3 M", "4.57 G".
std::string format_count(std::uint64_t count);

/// "12.3%"; nothing of nothing is 0.0%.
std::string format_share(double part, double whole);

/// An operation with its type, if it takes one: "+ INT".
std::string operation_name(vcode::Op op, vcode::Type type);
/// The same with the name of the kernel of a RUN.
std::string operation_name(const vcode::Instruction& code, const vcode::LinkedProgram& program);

/// At most `width` characters: long names lose their middle.
std::string fitted(const std::string& name, std::size_t width);

}  // namespace vinterp
