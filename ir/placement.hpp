// Which values are computed only where they are used.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace ir {

/// For every value of the function: is its statement left out where it stands and put in front of
/// the only use instead? Constants always are, for every use of theirs.
///
/// A statement stays on its side of all effects but those of arms that end the program, and is not
/// put off if that would keep more storage alive.
///
/// `function_effects`: functions_with_effects() the module.
std::vector<bool> deferred_values(const Module& module, const Function& function,
                                  const std::vector<bool>& function_effects);

}  // namespace ir
