#include "cvl/value.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "cvl/failure.hpp"

namespace cvl {

void PairNode::destroy(PairNode* node) {
  PairNode* doomed = node;
  const auto unlink = [&](Value& component) {
    if (component.type() != Type::Pair) return;
    PairNode* inner = component.pair().node.detach();
    if (--inner->refs == 0) {
      inner->next_doomed = doomed;
      doomed = inner;
    }
  };
  while (doomed != nullptr) {
    PairNode* current = doomed;
    doomed = current->next_doomed;
    unlink(current->first);
    unlink(current->second);
    delete current;
  }
}

Value make_pair(Value first, Value second) {
  auto* node = new PairNode;
  Pair pair;
  pair.node = Ref<PairNode>(node);
  node->first = std::move(first);
  node->second = std::move(second);
  return pair;
}

std::size_t stored_bytes(const Widths& widths, const Vector& vector) {
  const auto length = static_cast<std::size_t>(vector.length);
  if (vector.form == Form::Narrow) return length;
  return vector.is_plain() ? length * widths.element_bytes(vector.type) : 0;
}

Vector make_int(const Widths& widths, std::int64_t number) {
  if (widths.int_bytes == 8) return make_scalar(Type::Int, number);
  if (number < std::numeric_limits<std::int32_t>::min() ||
      number > std::numeric_limits<std::int32_t>::max()) {
    throw Failure(vcode::ErrorCode::CountOverflow,
                  fmt::format("{} does not fit a 32-bit INT", number), {}, "run with --int=64");
  }
  return make_scalar(Type::Int, static_cast<std::int32_t>(number));
}

Vector make_bool(bool flag) {
  return make_scalar(Type::Bool, static_cast<std::uint8_t>(flag));
}

Vector make_float(const Widths& widths, double number) {
  if (widths.float_bytes == 8) return make_scalar(Type::Float, number);
  return make_scalar(Type::Float, static_cast<float>(number));
}

std::int64_t longest_of(const Value* values, std::size_t count) {
  std::int64_t longest = 0;
  for (std::size_t k = 0; k < count; ++k) {
    longest = std::max(longest, values[k].is_vector()
                                    ? values[k].vector().length
                                    : std::max(values[k].segdes().count, values[k].segdes().total));
  }
  return longest;
}

}  // namespace cvl
