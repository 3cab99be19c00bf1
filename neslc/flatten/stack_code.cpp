#include "neslc/flatten/stack_code.hpp"

#include <utility>

#include "ir/lower.hpp"

namespace neslc {

StackCode stack_code(const FlatProgram& flat) {
  ir::Lowered lowered = ir::lower(flat.module);
  StackCode result{std::move(lowered.program), {}};
  for (const std::uint32_t constant : lowered.constants) {
    // The optimizer adds constants of its own.
    const bool known = constant < flat.components.size();
    result.values.push_back(known ? flat.components[constant] : -1);
  }
  return result;
}

}  // namespace neslc
