// Scalar values as C++ expressions.
#pragma once

#include <string>

#include "cvl/kernel_plan.hpp"

namespace cvl::cuda::codegen {

/// `Int`, `Float` or `Bool`.
std::string type_text(vcode::Type type);
/// A literal of that type.
std::string constant_text(const PlanNode& node);
/// The functor of an elementwise operation, such as `ops::Add`.
std::string functor_text(vcode::Op op);
/// Its operands, separated by commas; `name` names the nodes.
std::string arguments_text(const PlanNode& node, std::string (*name)(NodeId));
/// The operation of a node.
std::string apply_text(const PlanNode& node, std::string (*name)(NodeId));
/// The functor that a scan or reduction folds with.
std::string combiner_text(vcode::Op op);
/// Names of values and of members.
std::string value_name(NodeId node);
std::string array_name(ArrayId array);
std::string target_name(ArrayId array);
std::string segdes_name(SegdesId segdes);
std::string lengths_name(SegdesId segdes);

}  // namespace cvl::cuda::codegen
