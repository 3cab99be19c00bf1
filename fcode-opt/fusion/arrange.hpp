// Moves what is cheap into the regions where it can be part of a kernel.
#pragma once

#include "fcode-opt/ir.hpp"

namespace fcode {

class KnownWalks;

/// Computes generators again in each region that reads them, so that no vector has to be kept for
/// it; gives constants again, so that kernels contain them instead of taking them; and computes
/// scalar conditions in front of the conditional in whose arm they stand, where they can be
/// part of the kernel of their operands.
void arrange_for_fusion(Module& module, KnownWalks& walks);

}  // namespace fcode
