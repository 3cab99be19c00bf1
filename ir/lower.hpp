// Single assignment to stack code.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.hpp"
#include "vcode/program.hpp"

namespace ir {

/// The module as a program with the same meaning. The entry comes first, the other functions follow
/// in their order.
///
/// Operands that die are taken from where they lie, those that lie at the top in the right order
/// cost nothing, neighbours are moved together, and a value without further use is dropped at once.
/// Constants are pushed where they are used; a value with a single use is computed right before it
/// if that neither crosses an effect nor keeps more storage alive (placement.hpp).
///
/// `constants`, if not null, becomes the number that each constant of the result has in the module.
vcode::Program lower(const Module& module, std::vector<std::uint32_t>* constants = nullptr);

}  // namespace ir
