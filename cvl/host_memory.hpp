// Host pages for a Heap, in huge pages where the system has them.
#pragma once

#include <cstddef>

#include "cvl/heap.hpp"

namespace cvl {

class HostMemory final : public MemorySource {
 public:
  void* acquire(std::size_t bytes) noexcept override;
  void release(void* data, std::size_t bytes) noexcept override;
  /// Asks for huge pages where little of them is going to lie idle.
  void expect(void* data, std::size_t acquired, std::size_t used,
              std::size_t bytes) noexcept override;
  /// Address space only: pages that are never touched cost nothing.
  std::size_t region_bytes() const noexcept override { return std::size_t{4} << 30; }
  /// Of the machine's memory or, if that is smaller, the limit of the control group that this
  /// process runs in, four fifths: something is left to others.
  std::size_t limit() const override;
  bool immediate() const noexcept override { return true; }
  bool discard(void* data, std::size_t bytes) noexcept override;
  bool is_of_process() const noexcept override { return true; }
};

}  // namespace cvl
