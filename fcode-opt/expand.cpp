// RUN back to what it stands for.
#include <algorithm>
#include <map>
#include <utility>

#include "fcode-opt/optimizer.hpp"

namespace fcode {

std::optional<vcode::Program> expand(const vcode::Program& program, std::string& missing) {
  std::map<std::string_view, const vcode::Kernel*> kernels;
  for (const vcode::Kernel& kernel : program.kernels) kernels.emplace(kernel.name, &kernel);
  vcode::Program expanded = program;
  expanded.kernels.clear();
  expanded.fcode.reset();
  for (vcode::Function& function : expanded.functions) {
    std::vector<vcode::Instruction> code;
    for (const vcode::Instruction& instruction : function.code) {
      if (instruction.op != Op::Run) {
        code.push_back(instruction);
        continue;
      }
      const vcode::Kernel& kernel = *kernels.at(program.names[instruction.a]);
      if (!kernel.has_spec) {
        missing = kernel.name;
        return std::nullopt;
      }
      code.insert(code.end(), kernel.spec.begin(), kernel.spec.end());
    }
    function.code = std::move(code);
  }
  return expanded;
}

}  // namespace fcode
