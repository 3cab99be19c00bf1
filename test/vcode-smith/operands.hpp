// Finds or makes operands for the vector operations of a program under construction.
#pragma once

#include <vector>

#include "property/random.hpp"
#include "vcode-smith/builder.hpp"

namespace smith {

class Operands {
 public:
  /// Only entries from `base` upwards are used: below it lies what belongs to the caller.
  Operands(Builder& builder, property::Random& random, std::size_t base)
      : builder_(builder), random_(random), base_(base) {}

  /// Puts operands for the operation on top of the stack. They have the right types and mostly fit;
  /// indices are mostly in range. The operation is not added.
  void prepare(vcode::Op op, vcode::Type type);

  /// Some vector of that type.
  Id any(vcode::Type type);
  Id any_segdes();
  /// A vector of exactly (or in non-strict programs now and then at least) that many elements.
  Id vector(vcode::Type type, std::int64_t length);
  /// A new vector of that type and length on top of the stack.
  Id make(vcode::Type type, std::int64_t length);
  Id make_segdes();

 private:
  std::vector<Id> choose(vcode::Op op, vcode::Type type);
  std::vector<Id> choose_elementwise(const vcode::OpInfo& row, vcode::Type type);
  std::vector<Id> choose_permute(vcode::Op op, vcode::Type type);
  Id other_side(Id segdes, bool room_needed, bool source_needed);
  Id indices(Id walked, Id pointed);
  Id indices_by_rand(Id walked, Id pointed);
  Id one_index_each(Id segdes);
  Id divisor(std::int64_t length);
  Id bounds();
  Id small_lengths();
  std::int64_t pick_length();
  std::int64_t total(Id segdes) const;
  std::int64_t count(Id segdes) const;

  Builder& builder_;
  property::Random& random_;
  std::size_t base_;
};

}  // namespace smith
