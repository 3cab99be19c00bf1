// Elementwise operations but for the mathematical functions, and RAND.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/elementwise.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

template <class I>
struct RandomBody {
  static constexpr int kPack = shape::kPack<I>;

  Source<I> bounds;
  Array<I> out;
  RandomState state;
  FailureSink failures;

  KERNEL_FN I load(std::int64_t i) const { return bounds[i]; }
  KERNEL_FN Pack<I, kPack> load_pack(std::int64_t i) const {
    return bounds.template pack<kPack>(i);
  }
  KERNEL_FN void store(std::int64_t i, I bound) const { out[i] = number(i, bound); }
  KERNEL_FN void store_pack(std::int64_t i, const Pack<I, kPack>& in) const {
    Pack<I, kPack> result;
    for (int k = 0; k < kPack; ++k) result.element[k] = number(i + k, in.element[k]);
    CVL_CUDA_TARGET::store_pack(out, i, result);
  }

 private:
  KERNEL_FN I number(std::int64_t i, I bound) const {
    if (bound < 1) {
      failures.report(i, bound);
      return 0;
    }
    return static_cast<I>(draw(state.key, state.drawn + static_cast<std::uint64_t>(i),
                               static_cast<std::uint64_t>(bound)));
  }
};

template <class Body>
void launch_map(Device& device, const Body& body, std::int64_t length) {
  using Kernel = MapKernel<Body>;
  launch(device, blocks_for(length, Kernel::kTile), Kernel{body, length});
}

}  // namespace

void launch_elementwise(Device& device, const ElementwiseCall& call) {
  switch (call.op) {
#define ELEMENTWISE(id, ...)                 \
  case Op::id:                               \
    if constexpr (kIsMath<id##Row>) {        \
      launch_elementwise_math(device, call); \
    } else {                                 \
      launch_row<id##Row>(device, call);     \
    }                                        \
    break;
#include "vcode/opcodes.def"
    default:
      break;
  }
}

void launch_random(Device& device, const RandomCall& call) {
  with_int(call.widths, [&](auto type) {
    using I = typename decltype(type)::type;
    launch_map(
        device,
        RandomBody<I>{Source<I>(call.bounds), Array<I>(static_cast<I*>(call.out), call.length),
                      call.state, call.failures},
        call.length);
  });
}

void launch_write_out(Device& device, std::size_t element_bytes, const RawSource& source,
                      std::int64_t length, void* out) {
  with_bits(element_bytes, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_map(device, CopyBody<T>{Source<T>(source), Array<T>(static_cast<T*>(out), length)},
               length);
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
