// What a program holds in memory, for --report=memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fcode-opt/ir.hpp"

namespace fcode {

struct MemoryReport {
  /// A vector or descriptor that is held.
  struct Held {
    std::string size;  // such as `2 n1 + 3`
    Type type = Type::Int;
    Origin origin;            // of what makes it
    bool read_later = false;  // behind the region; else the last to read it is …
    std::string reader;       // … this, at
    Origin reader_origin;
  };
  /// A result of a kernel and where it is put.
  struct Placed {
    std::string kernel, result;
    std::string over;  // operand that it is written over; empty: it gets room of its own
    std::string why;   // and why
    Origin origin;     // of the RUN
  };
  /// Straight-line code between calls, conditionals, input and output.
  struct Region {
    Origin origin;
    std::string total;  // number of elements that are held at the peak
    std::string at;     // what runs then
    Origin at_origin;
    std::vector<Held> held;
    std::vector<Placed> placed;
  };
  std::vector<Region> regions;
};

/// Of all functions that are not opaque. Vectors of a few numbers, which take no memory of their
/// own, and those that a library keeps as formulas are left out. The module is not changed.
MemoryReport memory_report(Module& module);

}  // namespace fcode
