// Memory of code that is given back: what is used comes back, what was changed stays.
#include "cvl-cpu/code_pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "skip.hpp"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 64;

/// Pages of a segment that is not written to. So many that others near by, which come back 16 at a
/// time, do not bring all of these along.
alignas(kPage) const std::array<unsigned char, kPages * kPage> kConstants{1, 2, 3};

unsigned char constant(std::size_t index) {
  return const_cast<const volatile unsigned char&>(kConstants[index]);
}

void touch_all() {
  for (std::size_t i = 0; i < kConstants.size(); i += kPage) constant(i);
}

/// Nothing: the system does not tell, and then no page is given back.
std::optional<std::size_t> resident_pages() {
  std::array<std::uint64_t, kPages> pages{};
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto place = reinterpret_cast<std::uintptr_t>(kConstants.data()) / kPage * sizeof pages[0];
  const ssize_t got = pread(file, pages.data(), sizeof pages, static_cast<off_t>(place));
  close(file);
  if (got != sizeof pages) return std::nullopt;
  std::size_t count = 0;
  for (const std::uint64_t page : pages) count += page >> 63;
  return count;
}

}  // namespace

TEST_CASE("code and constants that are given back return when they are used", "[pagemap]") {
  touch_all();
  if (!resident_pages()) {
    cvl::cpu::release_code_pages();
    CHECK(constant(2) == 3);
    testing::skip("/proc/self/pagemap cannot be read");
    return;
  }
  REQUIRE(resident_pages() == kPages);
  cvl::cpu::release_code_pages();
  CHECK(*resident_pages() < kPages / 2);
  CHECK(constant(2) == 3);
  touch_all();
  CHECK(resident_pages() == kPages);
}

TEST_CASE("a changed page, as one with a breakpoint, stays") {
  auto* const changed = const_cast<unsigned char*>(&kConstants[kPage]);
  REQUIRE(mprotect(changed, kPage, PROT_READ | PROT_WRITE) == 0);
  *static_cast<volatile unsigned char*>(changed) = 0xCC;
  REQUIRE(mprotect(changed, kPage, PROT_READ) == 0);
  cvl::cpu::release_code_pages();
  CHECK(constant(kPage) == 0xCC);
}
