// Elementwise operations.
//
// Operands may be in any form. Dense ones are read in place; of the others each block of
// elements is written out into a buffer that stays in the L1 cache, so that a kernel sees plain
// arrays only, a constant or an index range costs no memory traffic, and a text a byte for each
// character.

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "cvl-cpu/operations.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cpu {
namespace {

constexpr int kMaxArity = 3;
constexpr std::int64_t kMostBytes = LargestTuning::elementwise_block_bytes;

/// One operand during a pass over blocks.
class BlockReader {
 public:
  BlockReader(CpuBackend& cpu, const Vector& vector)
      : cpu_(cpu), vector_(vector), width_(cpu.element_bytes(vector.type)) {}

  /// Does the operand lie in memory as it is?
  bool plain() const { return vector_.is_plain(); }
  /// Elements from position `begin` on, without a copy. REQUIRES: plain().
  const std::byte* at(std::int64_t begin) const {
    return elements<std::byte>(vector_) + static_cast<std::size_t>(begin) * width_;
  }
  /// Fills `buffer` with what stays the same from block to block.
  void prepare(std::byte* buffer) const {
    if (vector_.form == Form::Constant)
      fill(buffer, kMostBytes / static_cast<std::int64_t>(width_));
  }
  std::size_t width() const { return width_; }
  /// Elements [begin, begin + count), possibly written to `buffer`, which prepare() has seen.
  const std::byte* block(std::int64_t begin, std::int64_t count, std::byte* buffer) const {
    if (plain()) return at(begin);
    if (vector_.form != Form::Constant) cpu_.download(vector_, begin, count, buffer);
    return buffer;
  }

 private:
  void fill(std::byte* buffer, std::int64_t count) const {
    cpu_.kernels().fill[static_cast<std::size_t>(vector_.type)](buffer, vector_.payload, count);
  }

  CpuBackend& cpu_;
  const Vector& vector_;
  std::size_t width_;
};

struct Call {
  CpuBackend& cpu;
  ElementwiseKernel kernel;
  std::size_t arity;
  std::array<BlockReader, kMaxArity> operands;  // unused ones repeat the first
  std::int64_t length;
  std::size_t result_bytes;  // per element

  /// Elements of a block: as many of the widest type as fit it.
  std::int64_t block() const {
    std::size_t widest = result_bytes;
    for (const BlockReader& operand : operands) widest = std::max(widest, operand.width());
    return tuning.elementwise_block_bytes / static_cast<std::int64_t>(widest);
  }
  bool all_plain() const {
    return std::all_of(operands.begin(), operands.end(), [](const auto& o) { return o.plain(); });
  }
};

/// Runs elements [begin, end) with result elements going to `out`. True when an element failed.
bool run_range(const Call& call, std::int64_t begin, std::int64_t end, std::byte* out,
               bool streamed) {
  if (!streamed && call.all_plain()) {
    return call.kernel(out, call.operands[0].at(begin), call.operands[1].at(begin),
                       call.operands[2].at(begin), end - begin);
  }
  alignas(64) std::byte buffers[kMaxArity][kMostBytes];
  alignas(64) std::byte block_result[kMostBytes];
  const std::int64_t block = call.block();
  for (std::size_t k = 0; k < call.arity; ++k) call.operands[k].prepare(buffers[k]);
  bool failed = false;
  for (std::int64_t i = begin; i < end; i += block) {
    const std::int64_t count = std::min(block, end - i);
    const std::byte* in[kMaxArity] = {};
    for (std::size_t k = 0; k < call.arity; ++k)
      in[k] = call.operands[k].block(i, count, buffers[k]);
    std::byte* target = out + static_cast<std::size_t>(i - begin) * call.result_bytes;
    if (streamed) {
      failed |= call.kernel(block_result, in[0], in[1], in[2], count);
      call.cpu.kernels().stream(target, block_result,
                                count * static_cast<std::int64_t>(call.result_bytes));
    } else {
      failed |= call.kernel(target, in[0], in[1], in[2], count);
    }
  }
  return failed;
}

/// The only elementwise operations that can fail are integer divisions.
[[noreturn]] void report_failure(const Call& call, vcode::Op op) {
  alignas(64) std::byte scratch[kMostBytes];
  std::int64_t position = 0;
  std::int64_t step = call.block();
  while (true) {  // first the block, then the element
    const std::int64_t end = std::min(position + step, call.length);
    if (!run_range(call, position, end, scratch, false)) {
      position = end;
    } else if (step == 1) {
      break;
    } else {
      step = 1;
    }
  }
  throw division_by_zero(op, position, call.length);
}

bool is_fallible(vcode::Op op, Type type) {
  return op == vcode::Op::Modulo || (op == vcode::Op::Divide && type == Type::Int);
}

/// Storage for the result: over a dying operand with elements of the same size if there is one. The
/// operands of an operation that may fail are kept for its error message.
Vector result_storage(CpuBackend& cpu, Type type, std::int64_t length, Value* operands,
                      std::size_t arity, bool fallible) {
  for (std::size_t k = 0; k < arity && !fallible; ++k) {
    Vector& operand = operands[k].vector();
    if (operand.form == Form::Dense && operand.buffer.unique() &&
        cpu.element_bytes(operand.type) == cpu.element_bytes(type)) {
      return cpu.new_vector_over(type, length, operand);
    }
  }
  return cpu.new_vector(type, length);
}

Vector run_general(CpuBackend& cpu, vcode::Op op, Type type, Type result_type, Value* operands,
                   std::size_t arity, ElementwiseKernel kernel) {
  const std::int64_t length = operands[0].vector().length;
  const auto operand = [&](std::size_t k) -> Vector& {
    return operands[k < arity ? k : 0].vector();
  };
  const Call call{
      cpu,
      kernel,
      arity,
      {BlockReader(cpu, operand(0)), BlockReader(cpu, operand(1)), BlockReader(cpu, operand(2))},
      length,
      cpu.element_bytes(result_type)};

  const bool all_constant =
      length > 0 && std::all_of(operands, operands + arity, [](const Value& value) {
        return value.vector().form == Form::Constant;
      });
  if (all_constant) {
    Vector result;
    result.type = result_type;
    result.length = length;
    if (kernel(result.payload, operand(0).payload, operand(1).payload, operand(2).payload, 1)) {
      report_failure(call, op);
    }
    if (!Vector::fits_inline(length, call.result_bytes)) {
      result.form = Form::Constant;
    } else {
      const Vector one = result;
      cpu.kernels().fill[static_cast<std::size_t>(result_type)](result.payload, one.payload,
                                                                length);
    }
    return result;
  }

  Vector result = result_storage(cpu, result_type, length, operands, arity, is_fallible(op, type));
  auto* out = mutable_elements<std::byte>(result);
  std::size_t bytes_per_element = call.result_bytes;
  bool in_place = false;
  for (std::size_t k = 0; k < arity; ++k) {
    if (!operand(k).is_buffered()) continue;
    bytes_per_element += static_cast<std::size_t>(cpu.stored_bytes(operand(k)));
    in_place |= operand(k).buffer.get() == result.buffer.get();
  }
  const std::int64_t bytes = length * static_cast<std::int64_t>(bytes_per_element);
  const bool streamed =
      !in_place && cpu.streams(length * static_cast<std::int64_t>(call.result_bytes));
  std::atomic<bool> failed{false};
  const std::int64_t tile_length = tuning.elementwise_tile_blocks * call.block();
  auto tile = [&](std::int64_t index) {
    const std::int64_t begin = index * tile_length;
    const std::int64_t end = std::min(begin + tile_length, length);
    if (run_range(call, begin, end, out + static_cast<std::size_t>(begin) * call.result_bytes,
                  streamed)) {
      failed.store(true, std::memory_order_relaxed);
    }
  };
  cpu.scheduler().for_tiles(tile_count(length, tile_length), bytes, tile);
  if (failed.load(std::memory_order_relaxed)) report_failure(call, op);
  return result;
}

}  // namespace

void run_elementwise(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  const vcode::OpInfo& info = vcode::info(op);
  const std::size_t arity = info.operands.size();
  const Type result_type = *vcode::operand_type(info.results[0], type);
  const ElementwiseKernel kernel =
      cpu.kernels().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  const Vector& first = operands[0].vector();
  const bool tiny = Vector::fits_inline(first.length, cpu.element_bytes(result_type)) &&
                    std::all_of(operands, operands + arity, [](const Value& value) {
                      return value.vector().form == Form::Inline;
                    });
  if (tiny) {
    Vector result;
    result.type = result_type;
    result.length = first.length;
    if (!kernel(result.payload, first.payload, operands[arity > 1 ? 1 : 0].vector().payload,
                operands[arity > 2 ? 2 : 0].vector().payload, first.length)) {
      results[0] = std::move(result);
      return;
    }
  }
  results[0] = run_general(cpu, op, type, result_type, operands, arity, kernel);
}

}  // namespace cvl::cpu
