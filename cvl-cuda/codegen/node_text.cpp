#include "cvl-cuda/codegen/node_text.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace cvl::cuda::codegen {
namespace {

constexpr const char* kFunctors[] = {
#define ELEMENTWISE(id, ...) #id,
#include "vcode/opcodes.def"
};

std::string float_text(double number) {
  if (std::isnan(number)) {
    return fmt::format("{}std::numeric_limits<Float>::quiet_NaN()",
                       std::signbit(number) ? "-" : "");
  }
  if (std::isinf(number)) {
    return fmt::format("{}std::numeric_limits<Float>::infinity()", number < 0 ? "-" : "");
  }
  return fmt::format("static_cast<Float>({:a})", number);
}

std::string int_text(std::int64_t number) {
  if (number == std::numeric_limits<std::int64_t>::min()) {
    return fmt::format("static_cast<Int>({}LL - 1)", number + 1);
  }
  return fmt::format("static_cast<Int>({}LL)", number);
}

}  // namespace

std::string type_text(vcode::Type type) {
  switch (type) {
    case vcode::Type::Float:
      return "Float";
    case vcode::Type::Bool:
      return "Bool";
    default:
      return "Int";
  }
}

std::string constant_text(const PlanNode& node) {
  switch (node.type) {
    case vcode::Type::Float:
      return float_text(node.float_value);
    case vcode::Type::Bool:
      return node.int_value != 0 ? "Bool{1}" : "Bool{0}";
    default:
      return int_text(node.int_value);
  }
}

std::string functor_text(vcode::Op op) {
  return fmt::format("ops::{}", kFunctors[static_cast<std::size_t>(op)]);
}

std::string arguments_text(const PlanNode& node, std::string (*name)(NodeId)) {
  std::string text;
  for (const NodeId arg : node.args) {
    if (arg != kNone) text += (text.empty() ? "" : ", ") + name(arg);
  }
  return text;
}

std::string apply_text(const PlanNode& node, std::string (*name)(NodeId)) {
  return fmt::format("apply_functor<{}, {}>({})", functor_text(node.op), type_text(node.type),
                     arguments_text(node, name));
}

std::string combiner_text(vcode::Op op) {
  return fmt::format("ops::{}", vcode::info(op).combiner);
}

std::string value_name(NodeId node) {
  return fmt::format("v{}", node);
}
std::string array_name(ArrayId array) {
  return fmt::format("a{}", array);
}
std::string target_name(ArrayId array) {
  return fmt::format("out{}", array);
}
std::string segdes_name(SegdesId segdes) {
  return fmt::format("d{}", segdes);
}
std::string lengths_name(SegdesId segdes) {
  return fmt::format("lengths{}", segdes);
}

}  // namespace cvl::cuda::codegen
