// Between which numbers the elements of a vector are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "fcode-opt/shapes/shapes.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// Answers for the place that the walk of `shapes` has reached.
///
/// Where flags are the conjunction of two others, one of them is assumed while the other is looked
/// at: of `i ≠ 0 and i - 1 < 0`, as compiled from `if i == 0 then x else v[i - 1]`, no element is
/// T.
class Ranges {
 public:
  /// `lengths`: scalars that descriptors have been made of, which would have failed for others.
  /// `counted`: numbers and lengths of segments, and their sums. `known`: what is not negative
  /// because of conditions that hold here, see follows().
  Ranges(const Module& module, Shapes& shapes, const Renaming& names,
         std::span<const ValueId> lengths = {}, std::span<const Linear> counted = {},
         std::span<const Linear> known = {})
      : module_(module),
        shapes_(shapes),
        names_(names),
        lengths_(lengths),
        counted_(counted),
        known_(known) {}

  /// What is not negative where the BOOL scalar is `value`.
  std::vector<Linear> follows(ValueId condition, bool value);

  /// Are all elements of the BOOL vector known to be F, because of what is compared in it?
  bool never(ValueId flags) { return all(false, flags); }
  /// Are all of them known to be T?
  bool always(ValueId flags) { return all(true, flags); }
  /// Are all of the numbers known to be positions in a vector of that length?
  bool inside(ValueId positions, const Linear& length);
  /// Is the number known not to be negative?
  bool not_negative(ValueId scalar);
  /// What is known of the quotients of the numbers and a positive one, by which they are divided
  /// element by element.
  enum class Quotient : std::uint8_t { Unknown, Zero, ZeroOrOne };
  Quotient quotient(ValueId numbers, ValueId divisor);
  /// Of a comparison that is about to be made.
  bool never(Op op, Type written, ValueId x, ValueId y) {
    return never(op, written, x, y, Place{}, kDepth);
  }

 private:
  static constexpr int kDepth = 8;               // how far the making of a vector is followed
  static constexpr std::size_t kMostBounds = 8;  // that are remembered of one side

  /// Which element of a vector is meant, while any one element of some flags is looked at: that
  /// at the same position, or that of the segment, in the descriptor or vector of lengths given, in
  /// which that lies, and so on. Of scalars it is the only one.
  struct Place {
    bool known = true;
    ValueList segments = {};
    std::uint32_t extreme = 0;  // not 0: that which such a reduction finds, and so on
  };
  /// x op y holds, at that place.
  struct Fact {
    Op op{};
    ValueId x = kNoValue, y = kNoValue;
    Place place;
  };
  /// The BOOL is `value`, at that place.
  struct Flag {
    bool value = false;
    ValueId flags = kNoValue;
    Place place;
  };
  /// Forgets in the end what has been assumed since.
  class Assumptions {
   public:
    explicit Assumptions(Ranges& ranges)
        : ranges_(ranges), facts_(ranges.facts_.size()), flags_(ranges.flags_.size()) {}
    Assumptions(const Assumptions&) = delete;
    Assumptions& operator=(const Assumptions&) = delete;
    ~Assumptions() {
      ranges_.facts_.resize(facts_);
      ranges_.flags_.resize(flags_);
    }
    /// The first fact that has been assumed.
    std::size_t first_fact() const { return facts_; }

   private:
    Ranges& ranges_;
    std::size_t facts_, flags_;
  };
  /// Some element of a vector of which nothing else is known.
  struct Unknown {
    ValueId vector = kNoValue;
    Place place;
    Linear number;
  };
  /// Numbers that the element is not below, and not above.
  using Bounds = boost::container::small_vector<Linear, 2>;
  struct Range {
    Bounds least, greatest;
    bool exact = false;                  // it has not wrapped around
    std::optional<Linear> segment = {};  // of positions in segments: the length of those
  };

  bool all(bool value, ValueId flags);
  bool all(bool value, ValueId flags, const Place& place, int depth);
  bool never(Op op, Type written, ValueId x, ValueId y, const Place& place, int depth);
  bool never_less(const Range& x, const Range& y, bool or_equal);
  bool is_exact(const Range& range, const Range& other);
  bool is_not_below_zero(const Range& range);
  bool at_least(const Linear& x, const Linear& y);
  bool is_known(const Linear& not_negative);
  void exists(const Linear& count);
  std::vector<Linear> consequences(Fact fact);
  void assume(bool value, ValueId flags, const Place& place, int depth);
  Range extreme(ValueId x, Op reduction, const Place& place, int depth);
  bool never_at(Op op, ValueId x, ValueId y, const Place& place, int depth);

  Range range(ValueId vector, const Place& place, int depth);
  Range made_range(ValueId vector, const Place& place, int depth);
  void learn(Op op, const Range& other, Range& range);
  Range constant(const vcode::Constant& constant);
  Range unknown(ValueId vector, const Place& place);
  Range positions(ValueId index, const Place& place, int depth);
  Bounds lasts(ValueId start, ValueId segments, const Place& segment, int depth);
  void add(Bounds& bounds, const Linear& bound, bool least);
  Range starts(const Definition& scan);
  Range sum(const Definition& made, const Place& place, int depth);
  Range scaled(const Definition& made, const Place& place, int depth);
  Range remainder(const Definition& made, const Place& place, int depth);
  Range divided(const Definition& made, const Place& place, int depth);
  std::optional<Linear> without_factor(const Linear& product, const Linear& factor);
  static Range below(const Range& bound);
  Range chosen(const Definition& select, const Place& place, int depth);
  bool fits(const Range& range);
  bool is_below_length(const Linear& bound);

  bool is_length(ValueId vector) const;
  bool is_length(const Linear& number);
  Place of_segments(const Place& place, ValueId scalar_or_each, ValueId segments);
  bool same_element(ValueId x, const Place& at, ValueId y, const Place& other);

  const Module& module_;
  Shapes& shapes_;
  const Renaming& names_;
  std::span<const ValueId> lengths_;
  std::span<const Linear> counted_;
  std::span<const Linear> known_;  // not to be negative
  std::vector<Fact> facts_;        // that are assumed, …
  std::vector<Flag> flags_;        // … and what is not a comparison of INTs
  bool learning_ = false;          // from what is assumed
  std::uint32_t extremes_ = 0;     // that have been looked at
  std::vector<Unknown> unknowns_;
  Bounds not_negative_;  // because there is the element that is looked at
};

}  // namespace fcode
