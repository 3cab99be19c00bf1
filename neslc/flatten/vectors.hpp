// Operations on vectors of elements of any type: the poly functions of reference 10.5.
//
// A "vector" here is a Value whose variables describe n elements: of a scalar type one flat vector
// of length n; of a sequence type a descriptor of n segments and the vector of their elements; of a
// pair both components. A value of any type in a context of n instances is such a vector, and so
// are the elements of a sequence. Pairs share all index computations, because equal operations
// are made once (ir::Builder).
#pragma once

#include <functional>

#include "neslc/flatten/value.hpp"

namespace neslc {

class Vectors {
 public:
  /// `in_kernels`: the code is for the optimizer.
  Vectors(ir::Builder& builder, bool in_kernels) : b_(builder), in_kernels_(in_kernels) {}

  ir::Builder& builder() { return b_; }
  /// Does place() fetch the elements of these sequences?
  bool fetches(const std::vector<Value>& sequences) const;

  /// Tells that the value has `length` elements, and gives its inner parts lengths of their own.
  void set_length(const Value& vector, ir::LengthId length);

  ir::ValueId ones(ir::ValueId descriptor_of_one_segment);  // as many as it describes
  ir::ValueId zeros(ir::ValueId descriptor_of_one_segment);
  ir::ValueId iota(ir::ValueId descriptor_of_one_segment);  // 0, 1, 2 ...
  /// 0, 1, 2 ... within each segment.
  ir::ValueId positions(ir::ValueId descriptor);
  /// `start`, start+1, ... within each segment.
  ir::ValueId ranges(ir::ValueId start, ir::ValueId descriptor);
  ir::ValueId lengths(ir::ValueId descriptor);
  /// Where each segment begins in the whole vector.
  ir::ValueId offsets(ir::ValueId descriptor);
  /// A descriptor of one segment over the elements that `descriptor` describes.
  ir::ValueId flat(ir::ValueId descriptor, const Value& elements);
  ir::ValueId descriptor_of(ir::ValueId lengths);
  /// The number of elements of each segment of `outer`, in the segments of `inner` inside it.
  ir::ValueId composed(ir::ValueId outer, ir::ValueId inner);
  /// Any flag set? A scalar; `descriptor` has one segment.
  ir::ValueId any(ir::ValueId flags, ir::ValueId descriptor_of_one_segment);
  ir::ValueId add(ir::ValueId a, ir::ValueId b);
  ir::ValueId subtract(ir::ValueId a, ir::ValueId b);

  /// New vector whose elements are chosen by `pick`, which maps a scalar vector to the chosen
  /// elements; `count` is the number of chosen elements, `from` that of all.
  using Pick = std::function<ir::ValueId(ir::ValueId)>;
  Value picked(const Value& vector, ir::LengthId from, const Pick& pick);

  /// vector[index[0]], vector[index[1]] ... `from`: the vector's length.
  Value gather(const Value& vector, ir::LengthId from, ir::ValueId index);
  /// Element k repeated as often as segment k of `descriptor` is long.
  Value distribute(const Value& vector, ir::LengthId from, ir::ValueId descriptor);
  /// Element j of a segment goes to its place index[j]; the indices are a permutation.
  Value permute(const Value& vector, ir::ValueId index, ir::ValueId descriptor);
  /// The flagged elements; the result is described by packed_descriptor.
  Value pack(const Value& vector, ir::ValueId flags, ir::ValueId descriptor);
  ir::ValueId packed_descriptor(const Value& vector, ir::ValueId flags, ir::ValueId descriptor);

  /// The sources put into one vector described by `target`: element j of sources[i].vector goes to
  /// index sources[i].index[j] of the segment of `target` that belongs to its segment of
  /// sources[i].descriptor. The sources fill every place of the target once.
  struct Source {
    Value vector;
    ir::ValueId index;
    ir::ValueId descriptor;
  };
  Value place(std::vector<Source> sources, ir::ValueId target);
  /// The same over given elements; of several for one place the last one wins.
  Value place_over(const std::vector<Source>& sources, const Value& defaults, ir::ValueId target);

  /// `length` null values.
  Value null_vector(const Value& form, ir::ValueId descriptor_of_one_segment);
  /// No element; `form` says of what kind.
  Value empty(const Value& form, Context* context);

 private:
  ir::ValueId vector_of(ir::ValueId scalar, ir::ValueId descriptor_of_one_segment);
  vcode::Type type_of(ir::ValueId var) const { return b_.variable(var).type; }
  bool is_short(const Source& source) const;
  Value placed(const std::vector<Source>& sources, const Value* defaults, ir::ValueId target,
               ir::LengthId total);
  Value placed_sequences(const std::vector<Source>& sources, const Value* defaults,
                         ir::ValueId target, ir::LengthId total);
  /// The same, whatever their lengths.
  Value merged_sequences(const std::vector<Source>& sources, const Value* defaults,
                         ir::ValueId target, ir::LengthId total);
  /// The indices, counted from the first segment of the target on.
  ir::ValueId place_in_all(const Source& source, ir::ValueId target);

  ir::Builder& b_;
  bool in_kernels_;
};

}  // namespace neslc
