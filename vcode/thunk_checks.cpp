// The rules for thunks: types (5) and what may be read (3, 4).
#include <cmath>

#include <fmt/format.h>

#include "vcode/kernel_checks.hpp"
#include "vcode/kernel_words.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

using NodeKind = ThunkNode::Kind;

bool KernelChecks::thunk(const Thunk& thunk, const ThunkPlace& place, std::size_t results) {
  const std::size_t count = thunk.results.size();
  if (count == 0 || (results != 0 && count != results)) {
    fail(ErrorCode::KernelResult, {},
         fmt::format("{} component{} where {} needed: {}", count, count == 1 ? "" : "s",
                     results == 0   ? "one or more are"
                     : results == 1 ? "one is"
                                    : fmt::format("{} are", results),
                     place.what));
    return false;
  }
  for (std::size_t i = 0; i < thunk.nodes.size(); ++i) {
    if (!node(thunk, i, place)) return false;
  }
  for (std::uint32_t result : thunk.results) {
    if (result < thunk.nodes.size()) continue;
    fail(ErrorCode::Internal, {}, "a result that is no node of its thunk");
    return false;
  }
  return true;
}

bool KernelChecks::node(const Thunk& thunk, std::size_t at, const ThunkPlace& place) {
  const ThunkNode& node = thunk.nodes[at];
  for (int i = 0; i < argument_count(node); ++i) {
    if (node.args[i] < at) continue;
    fail(ErrorCode::Internal, node.span, "a node that does not come before its user");
    return false;
  }
  switch (node.kind) {
    case NodeKind::Index:
      if (place.has_index && node.type == Type::Int) return true;
      fail(ErrorCode::KernelName, node.span, "an index where there is none");
      return false;
    case NodeKind::Size:
      if (node.id < kernel_.sizes.size() && node.type == Type::Int && size_known(node.id)) {
        return true;
      }
      fail(ErrorCode::KernelName, node.span,
           fmt::format(
               "the size `{}` is not known here",
               node.id < kernel_.sizes.size() ? shortened(kernel_.sizes[node.id].name) : "?"));
      return false;
    case NodeKind::Constant:
      if (is_data(node.type) && !std::isnan(node.float_value)) return true;
      fail(ErrorCode::KernelType, node.span,
           "a constant that cannot be written: NaN, or not INT, BOOL or FLOAT");
      return false;
    case NodeKind::State:
      return state(node, place);
    case NodeKind::Subscript:
      return subscript(thunk, node, place);
    case NodeKind::Apply:
      return apply(thunk, node, place);
    case NodeKind::If:
      return conditional(thunk, node);
    default:
      return segment_operator(thunk, node, place);
  }
}

bool KernelChecks::state(const ThunkNode& node, const ThunkPlace& place) {
  const bool known = place.state != nullptr && node.id < place.state->results.size();
  if (known && node.type == place.state->nodes[place.state->results[node.id]].type) return true;
  fail(ErrorCode::Internal, node.span, "a component of a state that there is not");
  return false;
}

bool KernelChecks::apply(const Thunk& thunk, const ThunkNode& node, const ThunkPlace& place) {
  const OpInfo& row = info(node.op);
  if (row.family != Family::Elementwise || (row.takes_type() && !row.allows(node.written))) {
    fail(ErrorCode::KernelType, node.span,
         fmt::format("`{}` is no elementwise operation on {}", row.text, type_name(node.written)));
    return false;
  }
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    const Type wanted = *operand_type(row.operands[i], node.written);
    const Type found = thunk.nodes[node.args[i]].type;
    if (wanted == found) continue;
    fail(ErrorCode::KernelType, node.span,
         fmt::format("`{}` needs {} as operand {}, found {}",
                     row.takes_type() ? fmt::format("{} {}", row.text, type_name(node.written))
                                      : std::string(row.text),
                     type_name(wanted), i, type_name(found)));
    return false;
  }
  if (node.type != *operand_type(row.results[0], node.written)) {
    fail(ErrorCode::Internal, node.span, "a node whose type is not that of its operation");
    return false;
  }
  const bool divides = node.type == Type::Int && (node.op == Op::Divide || node.op == Op::Modulo);
  if (place.state == nullptr || !divides || is_never_zero(thunk, node.args[1])) return true;
  fail(ErrorCode::KernelSubscript, node.span, "a division in ITERATE whose divisor may be 0",
       "divide by a number other than 0, or by `(IF (= INT d 0) 1 d)`");
  return false;
}

bool KernelChecks::conditional(const Thunk& thunk, const ThunkNode& node) {
  const Type condition = thunk.nodes[node.args[0]].type;
  const Type first = thunk.nodes[node.args[1]].type;
  const Type second = thunk.nodes[node.args[2]].type;
  if (condition != Type::Bool) {
    fail(ErrorCode::KernelType, node.span,
         fmt::format("the condition of `IF` is {}, not BOOL", type_name(condition)));
    return false;
  }
  if (first == second && node.type == first) return true;
  fail(ErrorCode::KernelType, node.span,
       fmt::format("the branches of `IF` have different types: {} and {}", type_name(first),
                   type_name(second)));
  return false;
}

bool KernelChecks::needs_int(const Thunk& thunk, const ThunkNode& node, std::string_view what) {
  const Type found = thunk.nodes[node.args[0]].type;
  if (found == Type::Int) return true;
  fail(ErrorCode::KernelType, node.span,
       fmt::format("the {} is {}, not INT", what, type_name(found)));
  return false;
}

bool KernelChecks::subscript(const Thunk& thunk, const ThunkNode& node, const ThunkPlace& place) {
  if (node.id >= kernel_.arrays.size() || node.type != kernel_.arrays[node.id].type) {
    fail(ErrorCode::Internal, node.span, "a subscript of an unknown vector, or of another type");
    return false;
  }
  if (!needs_int(thunk, node, "subscript")) return false;
  const KernelArray& array = kernel_.arrays[node.id];
  const std::string name = shortened(array.name);
  const KernelSource& source = arrays_[node.id];
  if (place.state != nullptr) {
    const auto at = static_cast<std::uint32_t>(&node - thunk.nodes.data());
    const bool operand = source.kind == KernelSource::Kind::Input;
    if (operand && is_guarded(kernel_, thunk, at)) return true;
    fail(ErrorCode::KernelSubscript, node.span,
         operand ? fmt::format("`{}` is read in ITERATE where the subscript may be outside", name)
                 : fmt::format("`{}` is read in ITERATE and is no operand", name),
         operand ? "write `(IF (AND BOOL (>= INT e 0) (< INT e n)) x[e] 0)`, n being its length"
                 : "");
    return false;
  }
  if (source.kind == KernelSource::Kind::Input) return true;
  if (source.kind == KernelSource::Kind::None) {
    fail(ErrorCode::KernelName, node.span, fmt::format("`{}` is used before it is bound", name));
    return false;
  }
  const bool at_index = place.has_index && thunk.nodes[node.args[0]].kind == NodeKind::Index;
  const bool same_length =
      place.has_index && same_size(kernel_, array.length, length_of_space(kernel_, place.space));
  const std::string_view maker = combinator_name(source.binding);
  switch (source.binding) {
    case Binding::Kind::Map:
    case Binding::Kind::Iterate:
    case Binding::Kind::Random:
    case Binding::Kind::Scan:
      if (at_index && same_length) return true;
      fail(ErrorCode::KernelSubscript, node.span,
           fmt::format("`{}`, the result of a {}, can only be read at the index of a binding over "
                       "the same space",
                       name, maker),
           "make it a result of this kernel, and read it in another one");
      return false;
    case Binding::Kind::Reduce:
      if (place.in_once || (at_index && same_length)) return true;
      fail(ErrorCode::KernelSubscript, node.span,
           fmt::format("`{}`, the result of a REDUCE, can only be read by ONCE, or at the index of "
                       "a binding over its segments",
                       name),
           "make it a result of this kernel, and read it in another one");
      return false;
    case Binding::Kind::Once:
      if (place.in_once) return true;
      [[fallthrough]];
    default:
      fail(ErrorCode::KernelSubscript, node.span,
           fmt::format("`{}`, the result of a {}, cannot be read {}in the same kernel", name, maker,
                       source.binding == Binding::Kind::Once ? "but by ONCE " : ""),
           "make it a result of this kernel, and read it in another one");
      return false;
  }
}

bool KernelChecks::segment_operator(const Thunk& thunk, const ThunkNode& node,
                                    const ThunkPlace& place) {
  if (node.id >= kernel_.segdes.size() || node.type != Type::Int) {
    fail(ErrorCode::Internal, node.span, "a segment operator on an unknown descriptor");
    return false;
  }
  if (place.state != nullptr) {
    fail(ErrorCode::KernelSubscript, node.span, "a segment operator in a function of a state",
         "make its value a component of the state");
    return false;
  }
  const KernelSource& source = segdes_[node.id];
  const std::string name = shortened(kernel_.segdes[node.id].name);
  if (source.kind == KernelSource::Kind::None) {
    fail(ErrorCode::KernelName, node.span, fmt::format("`{}` is used before it is bound", name));
    return false;
  }
  if (source.kind == KernelSource::Kind::Result && source.binding != Binding::Kind::Segments) {
    fail(ErrorCode::KernelSubscript, node.span,
         fmt::format("the descriptor `{}`, the result of a {}, cannot be used in the same kernel",
                     name, combinator_name(source.binding)));
    return false;
  }
  if (node.kind == NodeKind::SegCount) return true;
  const bool position = node.kind == NodeKind::SegNo || node.kind == NodeKind::SegOff;
  return needs_int(thunk, node, position ? "position" : "segment number");
}

}  // namespace vcode
