// The primitives on the emulated device.
#include "cvl-cuda/sort_plain.hpp"

#include "cvl-cuda/emulated_device.hpp"

namespace cvl::cuda::emulated {

std::size_t sort_scratch_bytes(Device&, const SortCall&) {
  return 1;
}

int sort_pairs(Device& device, const SortCall& call, void*, std::size_t) {
  device.count_launches(1);
  enqueue(device, 1, [call](std::int64_t) { sort_plain(call); });
  return 1;
}

}  // namespace cvl::cuda::emulated
