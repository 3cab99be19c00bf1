// Operations on vectors of elements of any type: the poly functions of reference 10.5.
//
// A "vector" here is a Value whose variables describe n elements: of a scalar type one flat vector
// of length n; of a sequence type a descriptor of n segments and the vector of their elements; of a
// pair both components. A value of any type in a context of n instances is such a vector, and so
// are the elements of a sequence. Pairs share all index computations, because equal operations
// are made once (ir::Builder).
#pragma once

#include <functional>

#include "neslc/value.hpp"

namespace neslc {

class Vectors {
 public:
  explicit Vectors(ir::Builder& builder) : b_(builder) {}

  ir::Builder& builder() { return b_; }

  /// Tells that the value has `length` elements, and gives its inner parts lengths of their own.
  void set_length(const Value& vector, ir::LengthId length);

  ir::Var ones(ir::Var descriptor_of_one_segment);  // as many as it describes
  ir::Var zeros(ir::Var descriptor_of_one_segment);
  ir::Var iota(ir::Var descriptor_of_one_segment);  // 0, 1, 2 ...
  /// 0, 1, 2 ... within each segment.
  ir::Var positions(ir::Var descriptor);
  /// `start`, start+1, ... within each segment.
  ir::Var ranges(ir::Var start, ir::Var descriptor);
  ir::Var lengths(ir::Var descriptor);
  /// Where each segment begins in the whole vector.
  ir::Var offsets(ir::Var descriptor);
  /// A descriptor of one segment over the elements that `descriptor` describes.
  ir::Var flat(ir::Var descriptor, const Value& elements);
  ir::Var descriptor_of(ir::Var lengths);
  /// The number of elements of each segment of `outer`, in the segments of `inner` inside it.
  ir::Var composed(ir::Var outer, ir::Var inner);
  /// Any flag set? A scalar; `descriptor` has one segment.
  ir::Var any(ir::Var flags, ir::Var descriptor_of_one_segment);
  ir::Var add(ir::Var a, ir::Var b);
  ir::Var subtract(ir::Var a, ir::Var b);

  /// New vector whose elements are chosen by `pick`, which maps a scalar vector to the chosen
  /// elements; `count` is the number of chosen elements, `from` that of all.
  using Pick = std::function<ir::Var(ir::Var)>;
  Value picked(const Value& vector, ir::LengthId from, const Pick& pick);

  /// vector[index[0]], vector[index[1]] ... `from`: the vector's length.
  Value gather(const Value& vector, ir::LengthId from, ir::Var index);
  /// Element k repeated as often as segment k of `descriptor` is long.
  Value distribute(const Value& vector, ir::LengthId from, ir::Var descriptor);
  /// Element j of a segment goes to its place index[j]; the indices are a permutation.
  Value permute(const Value& vector, ir::Var index, ir::Var descriptor);
  /// The flagged elements; the result is described by packed_descriptor.
  Value pack(const Value& vector, ir::Var flags, ir::Var descriptor);
  ir::Var packed_descriptor(const Value& vector, ir::Var flags, ir::Var descriptor);

  /// The sources put into one vector described by `target`: element j of sources[i].vector goes to
  /// index sources[i].index[j] of the segment of `target` that belongs to its segment of
  /// sources[i].descriptor. The sources fill every place of the target once.
  struct Source {
    Value vector;
    ir::Var index;
    ir::Var descriptor;
  };
  Value place(const std::vector<Source>& sources, ir::Var target);
  /// The same over given elements; of several for one place the last one wins.
  Value place_over(const std::vector<Source>& sources, const Value& defaults, ir::Var target);

  /// `length` null values.
  Value null_vector(const Value& form, ir::Var descriptor_of_one_segment);
  /// No element; `form` says of what kind.
  Value empty(const Value& form, Context* context);

 private:
  ir::Var vector_of(ir::Var scalar, ir::Var descriptor_of_one_segment);
  vcode::Type type_of(ir::Var var) const { return b_.variable(var).type; }
  Value placed(const std::vector<Source>& sources, const Value* defaults, ir::Var target,
               ir::LengthId total);
  Value placed_sequences(const std::vector<Source>& sources, const Value* defaults, ir::Var target,
                         ir::LengthId total);

  ir::Builder& b_;
};

}  // namespace neslc
