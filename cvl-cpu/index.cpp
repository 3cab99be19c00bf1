// INDEX: an arithmetic progression in each segment.

#include "cvl-cpu/expand.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

Vector progression(CpuBackend& cpu, std::int64_t start, std::int64_t step, std::int64_t length) {
  Vector result;
  result.type = Type::Int;
  result.length = length;
  if (Vector::fits_inline(length, cpu.element_bytes(Type::Int))) {
    cpu.kernels().progression(result.payload, start, step, 0, length);
  } else {
    result.form = Form::Progression;
    result.inline_elements<std::int64_t>()[0] = start;
    result.inline_elements<std::int64_t>()[1] = step;
  }
  return result;
}

}  // namespace

void run_index(CpuBackend& cpu, vcode::Op, Type, Value* operands, Value* results) {
  const Vector& starts = operands[0].vector();
  const Vector& steps = operands[1].vector();
  const Segdes& segdes = operands[2].segdes();
  if (segdes.count == 1) {
    const std::int64_t start = int_at(cpu, starts, 0);
    const std::int64_t step = int_at(cpu, steps, 0);
    results[0] = step == 0 ? constant_vector(cpu, Type::Int, segdes.total, starts.payload)
                           : progression(cpu, start, step, segdes.total);
    return;
  }
  const Window first(cpu, starts);
  const Window step(cpu, steps);
  results[0] =
      expand_segments(cpu, Type::Int, segdes, [&](const SegmentBlock& block, std::byte* out) {
        std::uint64_t first_buffer[kSegmentBlock];
        std::uint64_t step_buffer[kSegmentBlock];
        cpu.kernels().expand_progressions(out, first.at(block.first, block.count, first_buffer),
                                          step.at(block.first, block.count, step_buffer),
                                          block.starts, block.count, block.begin, block.end);
      });
}

}  // namespace cvl::cpu
