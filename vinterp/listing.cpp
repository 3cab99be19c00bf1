#include "vinterp/listing.hpp"

#include <fmt/core.h>

#include "vcode/printer.hpp"

namespace vinterp {

std::string listing(const vcode::LinkedProgram& program) {
  std::string text;
  for (const vcode::LinkedFunction& function : program.functions) {
    text += fmt::format("FUNC {}\n", function.name);
    for (std::uint32_t at = function.begin; at < function.end; ++at) {
      text += fmt::format("{:6}  {}\n", at, vcode::print(program.code[at], program));
    }
  }
  return text;
}

}  // namespace vinterp
