// Operations that move elements: permutations, EXTRACT, REPLACE, DIST, INDEX.

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

using vcode::Op;

Vector zeros(CudaBackend& cuda, Type type, std::int64_t length) {
  Vector result;
  result.type = type;
  result.length = length;
  if (!Vector::fits_inline(length, cuda.element_bytes(type))) result.form = Form::Constant;
  return result;
}

namespace {

/// Where the operands of a permutation stand, by operation; -1 for those that it does not have.
struct Layout {
  int flags, fallback, from, to;
};
Layout layout_of(Op op) {
  switch (op) {
    case Op::Permute:
      return {-1, -1, 2, 2};
    case Op::DPermute:
      return {-1, 2, 3, 4};
    case Op::FPermute:
      return {2, -1, 3, 4};
    case Op::DFPermute:
      return {2, 3, 4, 5};
    case Op::BPermute:
      return {-1, -1, 2, 3};
    default:  // BFPermute
      return {2, -1, 3, 4};
  }
}

void run_fetch(CudaBackend& cuda, Type type, MoveCall& call, Value* operands, Value* results) {
  const std::int64_t length = call.to.total;
  // The result may take the place of the index: an element reads its own index only.
  Vector result = cuda.new_result_over(type, length, operands[1].vector());
  if (length > 0) {
    call.out = result.buffer->data;
    launch_fetch(cuda.device(), call);
  }
  results[0] = std::move(result);
}

const Ref<Buffer>& buffer_of(const Vector& vector) {
  static const Ref<Buffer> kNone;
  return vector.form == Form::Dense ? vector.buffer : kNone;
}

/// The operands that decide who sends where. What has no buffer (constants, few elements) is never
/// taken for the same.
struct Route {
  const Vector& index;
  const Vector* flags;
  const Segdes &from, &to;

  bool is_that_of(const CudaBackend::LastSend& last) const {
    return last.index && last.index.get() == buffer_of(index).get() &&
           (flags == nullptr ? !last.flags : last.flags.get() == buffer_of(*flags).get()) &&
           (flags == nullptr || last.flags) && same_descriptor(from, last.from) &&
           same_descriptor(to, last.to);
  }
  bool is_rank(const CudaBackend::LastRank& last) const {
    return flags == nullptr && last.ranks && last.ranks.get() == buffer_of(index).get() &&
           same_descriptor(from, last.segdes) && same_descriptor(to, last.segdes);
  }
};

/// Every source claims its target, the greatest source position wins (an atomic maximum, hence the
/// same winner every time), then every target fetches from its winner. Claims are tagged with a
/// number that grows from call to call, so that old ones need not be cleared away. Under the ranks
/// of a sort no two sources meet, and elements go straight to their targets; under the index of the
/// call before (the components of a tuple) the winners are already known.
void run_send(CudaBackend& cuda, Type type, const MoveCall& move, const Route& route,
              Vector* fallback, Value* results) {
  const std::int64_t length = move.to.total;
  if (move.from.total == 0) {
    results[0] = fallback != nullptr ? Value(*fallback) : Value(zeros(cuda, type, length));
    return;
  }
  if (route.is_rank(cuda.last_rank())) {
    Vector result = cuda.new_result(type, length);
    MoveCall call = move;
    call.out = result.buffer->data;
    launch_scatter(cuda.device(), call);
    results[0] = std::move(result);
    return;
  }
  SendCall call;
  static_cast<MoveCall&>(call) = move;
  CudaBackend::LastSend& last = cuda.last_send();
  call.claimed = route.is_that_of(last);
  call.winners = call.claimed ? last.winners : cuda.winners(length, call.tag);
  if (call.claimed) {
    call.tag = last.tag;
    cuda.keep_winners();
  }
  call.counters = cuda.counters();
  call.fallback = cuda.source(fallback != nullptr ? *fallback : zeros(cuda, type, length), length);
  Vector result = fallback != nullptr ? cuda.new_result_over(type, length, *fallback)
                                      : cuda.new_result(type, length);
  if (length > 0) call.out = result.buffer->data;
  call.others = call.out != call.fallback.data;
  launch_send(cuda.device(), call);
  last = {buffer_of(route.index),
          route.flags != nullptr ? buffer_of(*route.flags) : Ref<Buffer>(),
          route.from,
          route.to,
          call.winners,
          call.tag};
  results[0] = std::move(result);
}

}  // namespace

void run_permute(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Layout layout = layout_of(op);
  const Vector* flags = layout.flags >= 0 ? &operands[layout.flags].vector() : nullptr;
  const Route route{operands[1].vector(), flags, operands[layout.from].segdes(),
                    operands[layout.to].segdes()};
  MoveCall call;
  call.element_bytes = cuda.element_bytes(type);
  call.widths = cuda.widths();
  const std::int64_t positions = std::max(route.from.total, route.to.total);
  call.values = cuda.source(operands[0].vector(), positions);
  call.index = cuda.source(route.index, positions);
  if (flags != nullptr) call.flags = cuda.source(*flags, positions);
  call.from = cuda.segments(route.from);
  call.to = cuda.segments(route.to);
  call.failures = cuda.failures(op, route.index.length);
  if (op == Op::BPermute || op == Op::BFPermute) {
    run_fetch(cuda, type, call, operands, results);
  } else {
    Vector* fallback = layout.fallback >= 0 ? &operands[layout.fallback].vector() : nullptr;
    run_send(cuda, type, call, route, fallback, results);
  }
}

void run_extract(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Segdes& segdes = operands[2].segdes();
  MoveCall call;
  call.element_bytes = cuda.element_bytes(type);
  call.widths = cuda.widths();
  call.values = cuda.source(operands[0].vector(), segdes.count);
  call.index = cuda.source(operands[1].vector(), segdes.count);
  call.from = cuda.segments(segdes);
  call.failures = cuda.failures(op, segdes.count);
  Vector result = cuda.new_result(type, segdes.count);
  if (segdes.count > 0) {
    call.out = result.buffer->data;
    launch_extract(cuda.device(), call);
  }
  results[0] = std::move(result);
}

void run_replace(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  Vector& target = operands[0].vector();
  const Segdes& segdes = operands[3].segdes();
  if (segdes.count == 0) {
    results[0] = std::move(target);
    return;
  }
  ReplaceCall call;
  call.element_bytes = cuda.element_bytes(type);
  call.widths = cuda.widths();
  call.index = cuda.source(operands[1].vector(), segdes.count);
  call.values = cuda.source(operands[2].vector(), segdes.count);
  call.to = cuda.segments(segdes);
  call.failures = cuda.failures(op, segdes.count);
  call.old = cuda.source(target, target.length);
  call.counters = cuda.counters();
  // Without elements there is nothing to replace, but every index is wrong.
  Vector result = cuda.new_result_over(type, target.length, target);
  if (target.length > 0) call.out = result.buffer->data;
  call.in_place = call.out == call.old.data;
  launch_replace(cuda.device(), call);
  results[0] = std::move(result);
}

void run_distribute(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Vector& values = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  // One value for all of them stays compact, if the host knows it.
  const bool one = segdes.count <= 1 || values.form == Form::Constant;
  if (segdes.total == 0 || (one && cuda.known_on_host(values))) {
    return cuda.run_on_host(op, type, operands, results);
  }
  MoveCall call;
  call.element_bytes = cuda.element_bytes(type);
  call.values = cuda.source(values, segdes.total);
  call.to = cuda.segments(segdes);
  Vector result = cuda.new_result(type, segdes.total);
  call.out = result.buffer->data;
  launch_distribute(cuda.device(), call);
  results[0] = std::move(result);
}

void run_index(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Vector& starts = operands[0].vector();
  const Vector& steps = operands[1].vector();
  const Segdes& segdes = operands[2].segdes();
  const bool one = segdes.count <= 1;
  if (segdes.total == 0 || (one && cuda.known_on_host(starts) && cuda.known_on_host(steps))) {
    return cuda.run_on_host(op, type, operands, results);
  }
  IndexCall call;
  call.widths = cuda.widths();
  call.starts = cuda.source(starts, segdes.total);
  call.steps = cuda.source(steps, segdes.total);
  call.segments = cuda.segments(segdes);
  Vector result = cuda.new_result(Type::Int, segdes.total);
  call.out = result.buffer->data;
  launch_index(cuda.device(), call);
  results[0] = std::move(result);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
