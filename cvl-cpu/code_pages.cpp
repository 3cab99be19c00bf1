#include "cvl-cpu/code_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <link.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace cvl::cpu {
namespace {

/// What the system says about the pages of this process.
class PageMap {
 public:
  PageMap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;
  ~PageMap() {
    if (file_ >= 0) close(file_);
  }

  /// Are all of these pages, as far as they are in memory, those of a file? False if unknown.
  bool are_of_file(std::uintptr_t first, std::uintptr_t end) const {
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
    constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
    const auto is_private = [](std::uint64_t page) {
      return (page & kSwapped) != 0 || (page & (kPresent | kOfFile)) == kPresent;
    };
    std::array<std::uint64_t, 512> buffer;
    while (first < end) {
      const std::span pages(buffer.data(), std::min<std::size_t>(buffer.size(), end - first));
      const auto place = static_cast<off_t>(first * sizeof pages[0]);
      const ssize_t got = pread(file_, pages.data(), pages.size_bytes(), place);
      if (got != static_cast<ssize_t>(pages.size_bytes())) return false;
      if (std::any_of(pages.begin(), pages.end(), is_private)) return false;
      first += pages.size();
    }
    return true;
  }

 private:
  int file_;
};

int release_code_of(dl_phdr_info* object, std::size_t, void* page_map) {
  static const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    const std::uintptr_t first = begin / page_bytes;
    const std::uintptr_t end = (begin + part.p_memsz + page_bytes - 1) / page_bytes;
    if (!static_cast<const PageMap*>(page_map)->are_of_file(first, end)) continue;
    madvise(reinterpret_cast<void*>(first * page_bytes), (end - first) * page_bytes, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void release_code_pages() {
  PageMap pages;
  dl_iterate_phdr(release_code_of, &pages);
}

}  // namespace cvl::cpu
