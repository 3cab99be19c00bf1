#include "cvl-cpu/segment_tiles.hpp"

namespace cvl::cpu {

SmallStarts::SmallStarts(CpuBackend& cpu, const Segdes& segdes)
    : starts_{nullptr, segdes.uniform_length} {
  if (segdes.uniform) return;
  alignas(64) std::byte lengths[(kSmallLength + 8) * sizeof(std::int64_t)];
  cpu.download(segdes.tables->lengths, 0, segdes.count, lengths);
  const auto sum = [&](const auto* length) {
    std::int64_t start = 0;
    for (std::int64_t k = 0; k < segdes.count; ++k) {
      offsets_[static_cast<std::size_t>(k)] = start;
      start += length[k];
    }
    offsets_[static_cast<std::size_t>(segdes.count)] = start;
  };
  if (cpu.widths().int_bytes == 4) {
    sum(reinterpret_cast<const std::int32_t*>(lengths));
  } else {
    sum(reinterpret_cast<const std::int64_t*>(lengths));
  }
  starts_.offsets = offsets_.data();
}

std::int64_t SegmentTiles::first_at(std::int64_t position) const {
  if (starts_.offsets == nullptr) {
    return std::min(count_, (position + starts_.uniform_length - 1) / starts_.uniform_length);
  }
  return std::lower_bound(starts_.offsets, starts_.offsets + count_, position) - starts_.offsets;
}

}  // namespace cvl::cpu
