// What shape analysis decides, put into the program.
#pragma once

#include "fcode-opt/ir.hpp"

namespace fcode {

class KnownWalks;

/// Descriptors that are known to be equal become one, and so do INT scalars; scalars with known
/// values become constants, and conditions on lengths that are always T or always F become CONST.
/// What is not needed any more is left to remove_dead(). Returns whether anything was changed.
bool unify_shapes(Module& module, KnownWalks& walks);

}  // namespace fcode
