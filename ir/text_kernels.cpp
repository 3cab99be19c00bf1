#include "ir/text_kernels.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "ir/tools.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"

namespace ir {

std::string print_kernels(const Module& module) {
  if (module.kernels.empty()) return {};
  vcode::Program program;
  program.constants = module.constants;
  program.kernels = module.kernels;
  program.fcode.emplace();
  return fmt::format("\n{}\n{}", kKernelsWord, vcode::print(program));
}

bool parse_kernels(std::string text, Module& module) {
  vcode::Diagnostics diagnostics;
  // A program has at least one function.
  text += "\nFUNC NONE\nRET\n";
  auto program =
      vcode::parse(std::make_shared<const vcode::Source>("", std::move(text)), diagnostics);
  if (!program || program->functions.size() != 1) return false;
  for (vcode::Kernel& kernel : program->kernels) {
    for (vcode::Instruction& instruction : kernel.spec) {
      if (instruction.op != Op::Const) continue;
      instruction.a = add_constant(module, program->constants[instruction.a]);
    }
    module.kernels.push_back(std::move(kernel));
  }
  return true;
}

}  // namespace ir
