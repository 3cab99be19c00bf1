// Passes without an index, evaluated by the host where that needs no wait, or where the host has to
// know the result anyway: sizes, and what is computed from sums.

#include <algorithm>
#include <optional>
#include <vector>

#include "cvl-cuda/kernel_operation.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

using Kind = PlanNode::Kind;

std::size_t arity(const PlanNode& node) {
  return static_cast<std::size_t>(
      std::count_if(node.args, node.args + 3, [](NodeId arg) { return arg != kNone; }));
}

/// Evaluates the nodes of a pass once, with the operations of the CPU library.
class OnceEvaluator {
 public:
  OnceEvaluator(CudaBackend& cuda, const KernelPlan& plan, const PlanPass& pass,
                const std::vector<Vector>& arrays, const std::vector<std::int64_t>& sizes)
      : cuda_(cuda), plan_(plan), pass_(pass), arrays_(arrays), sizes_(sizes) {}

  void run() {
    for (NodeId k = 0; k < pass_.nodes.size(); ++k) values_.push_back(value_of(k));
  }
  const Vector& value(NodeId node) const { return values_[node]; }
  std::int64_t number(NodeId node) const { return read_int(cuda_, values_[node]); }
  void note(const KernelFault& fault) {
    if (!first_ || fault.binding < first_->binding) first_ = fault;
  }
  const std::optional<KernelFault>& failure() const { return first_; }

 private:
  Vector value_of(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    switch (node.kind) {
      case Kind::Constant:
        return node.type == Type::Float  ? make_float(cuda_.widths(), node.float_value)
               : node.type == Type::Bool ? make_bool(node.int_value != 0)
                                         : make_int(cuda_.widths(), node.int_value);
      case Kind::Size:
        return make_int(cuda_.widths(), sizes_[plan_.canonical_size[node.id]]);
      case Kind::Gather:
        return element(node, number);
      default:
        return applied(node, number);
    }
  }

  static Vector zero(Type type) {
    Vector result;
    result.type = type;
    result.length = 1;
    return result;
  }
  bool wanted(const PlanNode& node) const {
    return node.guard == kNone || read_bool(cuda_, values_[node.guard]);
  }

  Vector element(const PlanNode& node, NodeId number_of_node) {
    Vector result = zero(node.type);
    if (!wanted(node)) return result;
    const Vector& array = arrays_[node.id];
    const std::int64_t index = number(node.args[0]);
    if (index >= 0 && index < array.length) {
      cuda_.download(array, index, 1, result.payload);
      return result;
    }
    KernelFault fault = fault_at(node, number_of_node);
    fault.kind = KernelFault::Kind::Index;
    fault.value = index;
    fault.limit = array.length;
    note(fault);
    return result;
  }

  Vector applied(const PlanNode& node, NodeId number_of_node) {
    if (node.traps && !wanted(node)) return zero(node.type);
    if (node.traps && number(node.args[1]) == 0) {
      note(fault_at(node, number_of_node));
      return zero(node.type);
    }
    Value operands[3];
    for (std::size_t k = 0; k < arity(node); ++k) operands[k] = values_[node.args[k]];
    Value result;
    cuda_.run_on_host(node.op, node.written, operands, &result);
    return std::move(result.vector());
  }

  static KernelFault fault_at(const PlanNode& node, NodeId number) {
    KernelFault fault;
    fault.binding = node.binding;
    fault.node = number;
    fault.op = node.op;
    fault.id = node.id;
    fault.count = 1;
    return fault;
  }

  CudaBackend& cuda_;
  const KernelPlan& plan_;
  const PlanPass& pass_;
  const std::vector<Vector>& arrays_;
  const std::vector<std::int64_t>& sizes_;
  std::vector<Vector> values_;
  std::optional<KernelFault> first_;
};

}  // namespace

bool CudaKernel::is_host_work(const PlanPass& pass) const {
  const bool awaited = std::any_of(pass.sinks.begin(), pass.sinks.end(), [](const PlanSink& sink) {
    return sink.kind == PlanSink::Kind::Size;
  });
  return std::all_of(pass.nodes.begin(), pass.nodes.end(), [&](const PlanNode& node) {
    switch (node.kind) {
      case Kind::Constant:
      case Kind::Size:
      case Kind::Apply:
        return true;
      case Kind::Gather:
        return awaited || cuda_.known_on_host(arrays_[node.id]);
      default:
        return false;
    }
  });
}

void CudaKernel::run_on_host(const PlanPass& pass) {
  OnceEvaluator once(cuda_, plan_, pass, arrays_, sizes_);
  once.run();
  for (const PlanSink& sink : pass.sinks) {
    const NodeId value = sink.values[0];
    KernelFault fault;
    fault.binding = sink.binding;
    fault.count = 1;
    if (sink.kind == PlanSink::Kind::Store) {
      arrays_[sink.arrays[0]] = once.value(value);
    } else if (sink.kind == PlanSink::Kind::Size) {
      sizes_[plan_.canonical_size[sink.size]] = once.number(value);
      if (once.number(value) >= 0) continue;
      fault.kind = KernelFault::Kind::Size;
      fault.id = sink.size;
      fault.value = once.number(value);
      once.note(fault);
    } else if (!read_bool(cuda_, once.value(value))) {
      fault.kind = KernelFault::Kind::Assertion;
      once.note(fault);
    }
  }
  if (once.failure()) throw failure_of(kernel_, *once.failure());
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
