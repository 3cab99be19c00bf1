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
  bool never(ValueId flags) const { return all(false, flags, kDepth); }
  /// Are all of them known to be T?
  bool always(ValueId flags) const { return all(true, flags, kDepth); }
  /// Are all of the numbers known to be positions in a vector of that length?
  bool inside(ValueId positions, const Linear& length) const;
  /// Of a comparison that is about to be made.
  bool never(Op op, Type written, ValueId x, ValueId y) const {
    return never(op, written, x, y, kDepth);
  }

 private:
  static constexpr int kDepth = 8;  // how far the making of a vector is followed

  struct Range {
    Linear least, greatest;
    bool exact = false;  // no element has wrapped around
  };

  bool all(bool value, ValueId flags, int depth) const;
  bool never(Op op, Type written, ValueId x, ValueId y, int depth) const;
  bool never_less(const std::optional<Range>& x, const std::optional<Range>& y,
                  bool or_equal) const;
  std::optional<Range> range(ValueId vector, int depth) const;
  std::optional<Range> extreme(ValueId x, Op reduction, int depth) const;
  std::optional<Range> positions(const Definition& index) const;
  std::optional<Range> sum(const Definition& made, int depth) const;
  bool fits(const Linear& least, const Linear& greatest) const;

  Shapes& shapes_;
  const Renaming& names_;
};

}  // namespace fcode
