// Fusion of a program's vector operations into kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fcode-opt/ir.hpp"

namespace fcode {

class KnownWalks;

/// What was chosen, for --report=fusion.
struct FusionReport {
  struct Item {
    std::string kernel;            // its name
    Origin origin;                 // of the first operation in it
    std::uint32_t operations = 0;  // that it replaces
    std::uint32_t passes = 0;      // that the price of the schedule was worked out with
  };
  struct Region {
    std::string function;
    Origin origin;
    std::uint32_t operations = 0;    // vector operations, before
    std::uint32_t instructions = 0;  // of these that stay as they are
    std::int64_t price = 0;          // of the schedule
    std::vector<Item> kernels;
    std::vector<Remark> unfused;  // what stays, and why
  };
  std::vector<Region> regions;
};

/// Replaces operations by kernels wherever that costs less. Gives what was done.
FusionReport fuse(Module& module, KnownWalks& walks);

}  // namespace fcode
