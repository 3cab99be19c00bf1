// DIST: one value per segment, repeated over the segment.

#include "cvl-cpu/expand.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {

void run_distribute(CpuBackend& cpu, vcode::Op, Type type, Value* operands, Value* results) {
  const Vector& values = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  if (segdes.count <= 1 || values.form == Form::Constant) {
    results[0] = constant_vector(cpu, type, segdes.total, values.payload);
    return;
  }
  const Window window(cpu, values);
  const ExpandKernel expand = cpu.kernels().expand[type_index(type)];
  results[0] = expand_segments(cpu, type, segdes, [&](const SegmentBlock& block, std::byte* out) {
    std::uint64_t buffer[kSegmentBlock];
    expand(out, window.at(block.first, block.count, buffer), block.starts, block.count, block.begin,
           block.end);
  });
}

}  // namespace cvl::cpu
