#include "cvl/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

#include "cvl/tuning.hpp"

namespace cvl {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// MADV_COLLAPSE of newer headers: small pages become a huge one at once, if the system can do
/// that.
constexpr int kCollapse = 25;

/// Is a huge page worth its memory, of which so much would lie idle for now, beside so much in use?
/// It is if a sixteenth of it is used at once, or if what is idle is little in comparison.
bool pays(std::size_t idle, std::size_t in_use) {
  return idle <= kHugePage / 16 * 15 || idle <= in_use / 2;
}

/// The beginning of a region lies in small pages.
std::size_t small_pages_first() {
  return static_cast<std::size_t>(heap_tuning.small_pages_bytes);
}

std::size_t rounded(std::size_t bytes) {
  return (bytes + 4095) & ~std::size_t{4095};
}

std::uintptr_t next_huge_page(std::uintptr_t address) {
  return (address + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

void* HostMemory::acquire(std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  const bool huge = size >= small_pages_first() + kHugePage;
  // Map a huge page more than needed, then unmap what lies outside the part with aligned huge
  // pages: only those can be backed as such (expect()), and they save most of the page faults.
  const std::size_t mapped = huge ? size + kHugePage - 4096 : size;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  if (!huge) return raw;
  auto* begin = static_cast<char*>(raw);
  const auto first_huge = reinterpret_cast<std::uintptr_t>(raw) + small_pages_first();
  const std::size_t head = next_huge_page(first_huge) - first_huge;
  if (head != 0) munmap(begin, head);
  const std::size_t tail = mapped - head - size;
  if (tail != 0) munmap(begin + head + size, tail);
  return begin + head;
}

void HostMemory::expect(void* data, std::size_t acquired, std::size_t used,
                        std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto end_for = [&](std::size_t in_use) {
    const std::uintptr_t end = next_huge_page(begin + in_use);
    const bool whole = end <= begin + acquired && pays(end - (begin + in_use), in_use);
    return whole ? end : end - kHugePage;
  };
  const std::uintptr_t first = std::max(end_for(used), next_huge_page(begin + small_pages_first()));
  const std::uintptr_t end = end_for(bytes);
  if (first >= end) return;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  // The first one may have been left out so far.
  if (first < begin + used) madvise(reinterpret_cast<void*>(first), kHugePage, kCollapse);
}

void HostMemory::release(void* data, std::size_t bytes) noexcept {
  munmap(data, rounded(bytes));
}

bool HostMemory::discard(void* data, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + bytes) / kPage * kPage;
  return first >= end || madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED) == 0;
}

std::size_t HostMemory::limit() const {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  std::size_t memory = pages > 0 && page_bytes > 0
                           ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
                           : std::size_t{4} << 30;
  std::size_t group_limit = 0;
  if (std::FILE* group = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
    if (std::fscanf(group, "%zu", &group_limit) == 1 && group_limit > 0) {
      memory = std::min(memory, group_limit);
    }
    std::fclose(group);
  }
  return memory / 5 * 4;
}

}  // namespace cvl
