// Between which numbers the elements of a vector are.
#pragma once

#include <optional>

#include "fcode-opt/shapes/shapes.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// Answers for the place that the walk of `shapes` has reached.
class Ranges {
 public:
  Ranges(Shapes& shapes, const Renaming& names) : shapes_(shapes), names_(names) {}

  /// Are all elements of the BOOL vector known to be F, because it compares elements that are
  /// positions of a vector with 0 and with the length of that vector?
  bool never(ValueId flags) const { return never(flags, kDepth); }

 private:
  static constexpr int kDepth = 8;  // how far the making of a vector is followed

  struct Range {
    Linear least, greatest;
  };

  bool never(ValueId flags, int depth) const;
  bool never_less(ValueId x, ValueId y, bool or_equal, int depth) const;
  std::optional<Range> range(ValueId vector, int depth) const;

  Shapes& shapes_;
  const Renaming& names_;
};

}  // namespace fcode
