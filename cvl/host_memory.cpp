#include "cvl/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace cvl {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// The beginning of a region is left in small pages: a program that needs no more than that should
/// not pay for touching and holding a huge one.
constexpr std::size_t kSmallPagesFirst = 2 * kHugePage;

std::size_t rounded(std::size_t bytes) {
  return (bytes + 4095) & ~std::size_t{4095};
}

}  // namespace

void* HostMemory::acquire(std::size_t bytes) noexcept {
  // Map a huge page more than needed, then unmap what lies outside the aligned part: only aligned
  // regions are backed by huge pages, and those save most of the page faults.
  const std::size_t size = rounded(bytes);
  const std::size_t alignment = size >= kHugePage ? kHugePage : 4096;
  const std::size_t mapped = size + alignment - 4096;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(raw);
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t head = (alignment - address % alignment) % alignment;
  if (head != 0) munmap(begin, head);
  const std::size_t tail = mapped - head - size;
  if (tail != 0) munmap(begin + head + size, tail);
  if (size > kSmallPagesFirst) {
    madvise(begin + head + kSmallPagesFirst, size - kSmallPagesFirst, MADV_HUGEPAGE);
  }
  return begin + head;
}

void HostMemory::release(void* data, std::size_t bytes) noexcept {
  munmap(data, rounded(bytes));
}

std::size_t available_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  std::size_t memory = pages > 0 && page_bytes > 0
                           ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
                           : std::size_t{4} << 30;
  std::ifstream group("/sys/fs/cgroup/memory.max");
  std::size_t group_limit = 0;
  if (group >> group_limit && group_limit > 0) memory = std::min(memory, group_limit);
  return memory;
}

}  // namespace cvl
