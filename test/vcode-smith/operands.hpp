// Finds or makes operands for the vector operations of a program under construction.
#pragma once

#include <vector>

#include "property/random.hpp"
#include "vcode-smith/builder.hpp"

namespace smith {

class Operands {
 public:
  /// Only entries from `base` upwards are used: below it lies what belongs to the caller.
  /// `from_outside`: how often lengths and other numbers are not constants, but read, drawn or
  /// computed, so that only the run knows them.
  Operands(Builder& builder, property::Random& random, std::size_t base, double from_outside)
      : builder_(builder), random_(random), base_(base), from_outside_(from_outside) {}

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
  /// That number on top of the stack, and these.
  Id number(std::int64_t number);
  Id numbers(const reference::Ints& numbers);

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
  /// A new vector as long as a vector, or as what a descriptor describes, which shows.
  Id make_like(vcode::Type type, Id like);
  /// A vector as long as that, see there.
  Id vector_like(vcode::Type type, Id like);
  Id make_over_segments(vcode::Type type);
  /// A new descriptor with these lengths on top of the stack.
  Id segdes(const std::vector<std::int64_t>& lengths);
  /// Numbers of which nothing is known on top of the stack.
  Id unknown_number();
  Id unknown_numbers(std::int64_t length);
  Id adjusted(Id unknown, const reference::Ints& numbers);
  std::int64_t pick_length();
  std::int64_t total(Id segdes) const;
  std::int64_t count(Id segdes) const;

  Builder& builder_;
  property::Random& random_;
  std::size_t base_;
  double from_outside_;
};

}  // namespace smith
