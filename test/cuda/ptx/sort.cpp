// The primitives on the device that runs PTX: by the host, since the vendor's sort is not ours to
// prove.
#include "cuda/ptx/device.hpp"
#include "cvl-cuda/sort_plain.hpp"

namespace cvl::cuda::ptx {

std::size_t sort_scratch_bytes(Device&, const SortCall&) {
  return 1;
}

int sort_pairs(Device& device, const SortCall& call, void*, std::size_t) {
  device.count_launches(1);
  enqueue(device, [call] {
    const auto keys = static_cast<std::size_t>(call.length) * call.key_bytes;
    const auto values = static_cast<std::size_t>(call.length) * call.value_bytes;
    device_memory().check_range_read(call.buffers.keys[0], keys);
    device_memory().check_range_read(call.buffers.values[0], values);
    device_memory().check_range_write(call.buffers.keys[1], keys);
    device_memory().check_range_write(call.buffers.values[1], values);
    sort_plain(call);
  });
  return 1;
}

}  // namespace cvl::cuda::ptx
