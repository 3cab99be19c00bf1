// An apply-to-each over sequences, computed as one over streams.
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

/// Those whose bodies are operations on scalars need no more memory than their results.
bool Flattener::may_need_pieces(const ApplyToEach& node, const Frame& frame) {
  if (!compiler_.options().in_pieces || compiler_.module().scopes[frame.scope].library) {
    return false;
  }
  const auto stays_flat = [&](const Call& call, TypePtr result_type) {
    const auto* callee = std::get_if<GlobalRef>(&call.callee->node);
    return callee != nullptr && callee->definition->library &&
           is_scalar_type(substituted(call.argument->type, frame)) &&
           is_scalar_type(substituted(result_type, frame));
  };
  bool result = false;
  for (const Expr* part : {node.body.get(), node.sieve.get()}) {
    if (part == nullptr) continue;
    for_each_expression(*part, [&](const Expr& inner) {
      const auto* call = std::get_if<Call>(&inner.node);
      result = result || std::holds_alternative<ApplyToEach>(inner.node) ||
               (call != nullptr && !stays_flat(*call, inner.type));
      return result ? Visit::End : Visit::Below;
    });
  }
  return result;
}

Value Flattener::each_in_pieces(const Expr& expr, const ApplyToEach& node,
                                std::vector<Value> generators, Frame& frame) {
  for (std::size_t i = 0; i < generators.size(); ++i) {
    const TypePtr type = substituted(node.generators[i].value->type, frame);
    generators[i] = call_library("stream.of", {type->element()}, generators[i], &serial_);
  }
  const TypePtr element = substituted(expr.type, frame)->element();
  const Value stream = streams_->each(node, std::move(generators), frame, element);
  return streams_->settled(call_library("stream.collect", {element}, stream, &serial_));
}

}  // namespace neslc
