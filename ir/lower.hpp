// Single assignment to stack code.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.hpp"
#include "vcode/program.hpp"

namespace ir {

/// A program, and the number that each of its constants has in the module.
struct Lowered {
  vcode::Program program;
  std::vector<std::uint32_t> constants;
};

/// The module as a program with the same meaning. The entry comes first, the other functions that
/// a run can enter follow in their order.
///
/// Operands that die are taken from where they lie, those that lie at the top in the right order
/// cost nothing, neighbours are moved together, and a value without further use is dropped at once.
/// Constants are pushed where they are used; a value with a single use is computed right before it
/// if that neither crosses an effect after which the program goes on nor keeps more storage alive
/// (placement.hpp).
///
/// Instructions keep span and scope of the statements that they are made for.
Lowered lower(const Module& module);

}  // namespace ir
