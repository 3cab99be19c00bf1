#include "cvl/heap.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl/failure.hpp"
#include "cvl/host_memory.hpp"
#include "cvl/region_allocator.hpp"
#include "cvl/tuning.hpp"

using cvl::Buffer;
using cvl::Heap;
using cvl::HostMemory;
using cvl::Ref;

namespace {

const auto kModest = static_cast<std::size_t>(cvl::heap_tuning.modest_bytes);

/// Host memory in small regions that runs out after a while and counts what it handed out.
class CountingSource final : public cvl::MemorySource {
 public:
  explicit CountingSource(std::size_t region, std::size_t most = SIZE_MAX)
      : region_(region), most_(most) {}
  void* acquire(std::size_t bytes) noexcept override {
    if (bytes > most_ - held) return nullptr;
    held += bytes;
    return memory_.acquire(bytes);
  }
  void release(void* data, std::size_t bytes) noexcept override {
    held -= bytes;
    expected.erase(data);
    memory_.release(data, bytes);
  }
  void expect(void* data, std::size_t acquired, std::size_t used,
              std::size_t bytes) noexcept override {
    CHECK(used == expected[data]);
    CHECK(bytes > used);
    CHECK(bytes <= acquired);
    expected[data] = bytes;
    memory_.expect(data, acquired, used, bytes);
  }
  std::size_t region_bytes() const noexcept override { return region_; }
  std::size_t limit() const override {
    ++limit_asked;
    return 2 * kModest;
  }

  std::size_t held = 0;
  std::map<void*, std::size_t> expected;  // of each region
  mutable int limit_asked = 0;

 private:
  HostMemory memory_;
  std::size_t region_;
  std::size_t most_;
};

/// Has the system been asked for huge pages at this address?
bool is_advised(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream mappings("/proc/self/smaps");
  bool within = false;
  for (std::string line; std::getline(mappings, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      within = begin <= wanted && wanted < end;
    } else if (within && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

/// Is there a system to be asked?
bool can_be_advised() {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  void* const probe =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(probe != MAP_FAILED);
  const bool can = madvise(probe, kBytes, MADV_HUGEPAGE) == 0 && is_advised(probe);
  munmap(probe, kBytes);
  return can;
}

}  // namespace

TEST_CASE("blocks hold the byte that is asked for when they come into use") {
  HostMemory source;
  Heap heap(source);
  cvl::heap_tuning.fresh_byte = 7;
  for (const std::size_t bytes : {1, 100, 5000, 3'000'000}) {
    for (int round = 0; round < 2; ++round) {  // fresh, and recycled
      const Ref<Buffer> block = heap.allocate(bytes);
      CHECK(std::all_of(block->data, block->data + bytes,
                        [](std::byte b) { return b == std::byte{7}; }));
      std::fill_n(block->data, bytes, std::byte{9});
    }
  }
  cvl::heap_tuning.fresh_byte = -1;
}

TEST_CASE("blocks are aligned, padded and distinct") {
  HostMemory memory;
  Heap heap(memory);
  std::vector<Ref<Buffer>> blocks;
  for (const std::size_t bytes : {0ul, 1ul, 64ul, 65ul, 1000ul, 32768ul, 100000ul, 3000000ul}) {
    blocks.push_back(heap.allocate(bytes));
    const Buffer& block = *blocks.back();
    CHECK(reinterpret_cast<std::uintptr_t>(block.data) % Heap::kAlignment == 0);
    CHECK(block.capacity >= bytes);
    std::memset(block.data, static_cast<int>(blocks.size()), bytes + Heap::kPadding);
  }
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    CHECK(static_cast<std::size_t>(blocks[k]->data[0]) == k + 1);
  }
}

TEST_CASE("a freed block is handed out again") {
  HostMemory memory;
  Heap heap(memory);
  for (const std::size_t bytes : {100ul, 5000ul, 200000ul, 5000000ul}) {
    const std::byte* first = nullptr;
    {
      const auto block = heap.allocate(bytes);
      first = block->data;
    }
    const auto held = heap.statistics().held_bytes;
    const auto again = heap.allocate(bytes);
    CHECK(again->data == first);
    CHECK(heap.statistics().held_bytes == held);
  }
  CHECK(heap.statistics().recycled == 4);
}

TEST_CASE("freed neighbours merge, so that changing sizes do not spread") {
  HostMemory memory;
  Heap heap(memory);
  const std::size_t total = std::size_t{64} << 20;
  for (std::size_t pieces = 1; pieces <= 512; pieces *= 2) {
    std::vector<Ref<Buffer>> blocks;
    for (std::size_t k = 0; k < pieces; ++k) {
      blocks.push_back(heap.allocate(total / pieces - Heap::kPadding));
    }
    // Free every other block first: the rest must still merge with them.
    for (std::size_t k = 0; k < pieces; k += 2) blocks[k].reset();
  }
  CHECK(heap.statistics().live_bytes == 0);
  CHECK(heap.statistics().peak_held_bytes <= total + total / 8);
}

TEST_CASE("blocks of some kilobytes share their memory whatever their sizes") {
  HostMemory memory;
  Heap heap(memory);
  const std::size_t total = std::size_t{1} << 20;
  for (std::size_t bytes = 2500; bytes < 32000; bytes += bytes / 3) {
    std::vector<Ref<Buffer>> blocks;
    while (heap.statistics().live_bytes + bytes < total) blocks.push_back(heap.allocate(bytes));
  }
  CHECK(heap.statistics().peak_held_bytes <= total);
}

TEST_CASE("huge pages begin behind the small pages of a region") {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  constexpr std::size_t kSmall = std::size_t{512} << 10;
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  HostMemory memory;
  void* const region = memory.acquire(kBytes);
  REQUIRE(region != nullptr);
  CHECK((reinterpret_cast<std::uintptr_t>(region) + kSmall) % kHugePage == 0);
  std::memset(region, 1, kBytes);
  memory.release(region, kBytes);
  void* const small = memory.acquire(100);
  REQUIRE(small != nullptr);
  std::memset(small, 1, 100);
  memory.release(small, 100);
}

TEST_CASE("huge pages are asked for where most of them is going to be used") {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  constexpr std::size_t kBytes = 11 * kMega;
  HostMemory memory;
  auto* const region = static_cast<std::byte*>(memory.acquire(kBytes));
  REQUIRE(region != nullptr);
  const auto expect = [&](std::size_t used, std::size_t bytes) {
    memory.expect(region, kBytes, used, bytes);
    std::memset(region + used, 1, bytes - used);
  };
  const bool can = can_be_advised();
  expect(0, kMega);  // the first huge page begins behind 0.5 MB: a quarter of it is used
  CHECK(is_advised(region + kMega) == can);
  CHECK_FALSE(is_advised(region + kMega / 4));
  expect(kMega, 2 * kMega + 9 * kMega / 16);  // a thirty-second of the second
  CHECK_FALSE(is_advised(region + 3 * kMega));
  expect(2 * kMega + 9 * kMega / 16, 4 * kMega);  // its small pages become a huge one
  CHECK(is_advised(region + 3 * kMega) == can);
  CHECK(
      std::all_of(region, region + 4 * kMega, [](std::byte each) { return each == std::byte{1}; }));
  expect(4 * kMega, 8 * kMega + 9 * kMega / 16);  // two whole ones, and 1.94 MB idle beside 8.56
  CHECK(is_advised(region + 5 * kMega) == can);
  CHECK(is_advised(region + 8 * kMega) == can);
  CHECK(is_advised(region + 10 * kMega) == can);
  CHECK_FALSE(is_advised(region + 10 * kMega + 3 * kMega / 4));
  expect(8 * kMega + 9 * kMega / 16, kBytes);  // the region ends within a huge page
  CHECK(is_advised(region + 10 * kMega) == can);
  CHECK_FALSE(is_advised(region + kBytes - 1));
  memory.release(region, kBytes);
}

TEST_CASE("random use keeps the books") {
  CountingSource source(std::size_t{1} << 20);
  {
    Heap heap(source);
    std::mt19937 random(3);
    std::vector<Ref<Buffer>> blocks(200);
    for (int step = 0; step < 20000; ++step) {
      auto& block = blocks[random() % blocks.size()];
      const std::size_t bytes = std::size_t{1} << random() % 19;
      if (!block || !heap.extend(*block, bytes)) block = heap.allocate(bytes);
      std::memset(block->data, step & 0xFF, bytes);
      if (step % 1000 == 0) heap.trim();
    }
    std::size_t used = 0;
    for (const auto& block : blocks) used += block ? block->capacity : 0;
    CHECK(heap.statistics().live_bytes >= used);
    CHECK(heap.statistics().held_bytes <= source.held);
    blocks.clear();
    CHECK(heap.statistics().live_bytes == 0);
  }
  CHECK(source.held == 0);
}

TEST_CASE("a block is extended where it lies, as far as nothing is in its way") {
  CountingSource source(std::size_t{1} << 20);
  Heap heap(source, std::size_t{600} << 10);
  auto first = heap.allocate(100'000);
  auto second = heap.allocate(100'000);
  std::memset(first->data, 1, 100'000);
  std::memset(second->data, 2, 100'000);
  const std::size_t live = heap.statistics().live_bytes;
  CHECK(heap.extend(*first, 100'000));  // as it is
  CHECK_FALSE(heap.extend(*first, 150'000));
  CHECK(heap.statistics().live_bytes == live);

  CHECK(heap.extend(*second, 200'000));  // into what was never used
  CHECK(second->capacity >= 200'000);
  CHECK(heap.statistics().live_bytes >= live + 99'000);
  std::memset(second->data + 100'000, 3, 100'000 + Heap::kPadding);
  CHECK_FALSE(heap.extend(*second, 600'000));  // beyond the limit
  CHECK_FALSE(heap.extend(*second, SIZE_MAX));

  first.reset();
  auto third = heap.allocate(20'000);  // in front of what is left of the first
  std::memset(third->data, 4, 20'000);
  CHECK(heap.extend(*third, 60'000));
  std::memset(third->data + 20'000, 5, 40'000);
  CHECK_FALSE(heap.extend(*third, 120'000));
  const auto all_are = [](const Buffer& block, std::size_t begin, std::size_t end, int number) {
    return std::all_of(block.data + begin, block.data + end,
                       [&](std::byte each) { return each == std::byte(number); });
  };
  CHECK(all_are(*second, 0, 100'000, 2));
  CHECK(all_are(*second, 100'000, 200'000, 3));
  CHECK(all_are(*third, 0, 20'000, 4));
  CHECK(heap.statistics().peak_live_bytes <= std::size_t{600} << 10);

  auto fourth = heap.allocate(30'000);  // what is left still serves
  CHECK(fourth->data > third->data);
  CHECK(fourth->data < second->data);
  for (auto* block : {&second, &third, &fourth}) block->reset();
  CHECK(heap.statistics().live_bytes == 0);
  CHECK(heap.allocate(1000));
}

TEST_CASE("small blocks are extended within their size class only") {
  HostMemory memory;
  Heap heap(memory);
  const auto block = heap.allocate(100);
  const std::size_t capacity = block->capacity;
  CHECK(heap.extend(*block, capacity));
  CHECK((heap.extend(*block, capacity + 1) == false || cvl::heap_tuning.small_classes < 3));
}

TEST_CASE("large blocks that grow have what follows them to themselves") {
  const auto alone = static_cast<std::size_t>(cvl::heap_tuning.alone_bytes);
  CountingSource source(8 * alone, 40 * alone);
  Heap heap(source);
  const auto fixed = heap.allocate(1000);
  auto first = heap.allocate(alone, Heap::Extent::Growing);
  auto second = heap.allocate(alone, Heap::Extent::Growing);
  std::vector<Ref<Buffer>> others;
  const std::byte* const before[2] = {first->data, second->data};
  for (std::size_t bytes = alone; bytes <= 7 * alone; bytes += alone / 2) {
    REQUIRE(heap.extend(*first, bytes));
    REQUIRE(heap.extend(*second, bytes));
    std::memset(first->data, 1, bytes);
    std::memset(second->data, 2, bytes);
    others.push_back(heap.allocate(alone / 4));
    std::memset(others.back()->data, 3, alone / 4);
  }
  CHECK(first->data == before[0]);
  CHECK(second->data == before[1]);
  CHECK(first->data[7 * alone - 1] == std::byte{1});
  CHECK_FALSE(heap.extend(*first, 9 * alone));  // longer than its region

  const std::size_t held = heap.statistics().held_bytes;
  first.reset();  // its memory serves others again, such that grow and such that do not
  auto third = heap.allocate(3 * alone, Heap::Extent::Growing);
  CHECK(third->data == before[0]);
  CHECK(heap.statistics().held_bytes == held);
  third.reset();
  others.push_back(heap.allocate(6 * alone));
  CHECK(heap.statistics().held_bytes == held);
  // There is no region twice as long: an ordinary block does as well.
  CHECK(heap.allocate(15 * alone, Heap::Extent::Growing));
  others.clear();
  second.reset();
  CHECK(heap.statistics().live_bytes < 3000);
}

TEST_CASE("small blocks that grow get half as much again, if the limit is far") {
  const std::size_t bytes = static_cast<std::size_t>(cvl::heap_tuning.alone_bytes) / 2;
  HostMemory memory;
  Heap heap(memory, 3 * bytes + bytes / 4);
  {
    const auto block = heap.allocate(bytes, Heap::Extent::Growing);
    CHECK(block->capacity >= bytes + bytes / 2);
    CHECK(block->capacity < 2 * bytes);
  }
  const auto most = heap.allocate(2 * bytes);
  const auto block = heap.allocate(bytes, Heap::Extent::Growing);
  CHECK(block->capacity < bytes + bytes / 4);
}

TEST_CASE("sources that give each block by itself") {
  CountingSource source(0);
  {
    Heap heap(source);
    const auto block = heap.allocate(1000000);
    CHECK(source.held >= 1000000);
    CHECK(source.held < 1100000);
  }
  CHECK(source.held == 0);
}

TEST_CASE("the limit is an error with sizes, and is recovered from") {
  HostMemory memory;
  Heap heap(memory, 1000000);
  const auto block = heap.allocate(600000);
  try {
    heap.allocate(600000);
    FAIL("the limit was not enforced");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::OutOfMemory);
    REQUIRE(failure.notes().size() == 1);
    CHECK(failure.notes()[0].find("limit 976.6 KiB") != std::string::npos);
  }
  heap.charge(200000);
  CHECK_THROWS_AS(heap.allocate(300000), cvl::Failure);
  heap.discharge(200000);
  CHECK(heap.allocate(300000));
  CHECK_THROWS_AS(heap.allocate(SIZE_MAX), cvl::Failure);
  CHECK_THROWS_AS(heap.allocate(SIZE_MAX - 100), cvl::Failure);
}

TEST_CASE("the limit of the source is asked for when more than a little is in use") {
  CountingSource source(std::size_t{64} << 20);
  Heap heap(source, Heap::kOfSource);
  const auto block = heap.allocate(kModest - 1000);
  CHECK(source.limit_asked == 0);
  const auto second = heap.allocate(kModest / 2);
  CHECK(heap.allocate(1000));
  CHECK(source.limit_asked == 1);
  CHECK_THROWS_AS(heap.allocate(kModest), cvl::Failure);
}

TEST_CASE("a source that runs dry") {
  CountingSource source(std::size_t{1} << 20, std::size_t{3} << 20);
  Heap heap(source);
  auto first = heap.allocate(std::size_t{1} << 20);
  CHECK_THROWS_AS(heap.allocate(std::size_t{3} << 20), cvl::Failure);
  first.reset();  // the unused region goes back so that a larger one fits
  CHECK(heap.allocate((std::size_t{2} << 20) + 100));
}

TEST_CASE("injected failures count allocations and charges") {
  HostMemory memory;
  Heap heap(memory);
  heap.fail_at(3);
  CHECK(heap.allocate(10));
  heap.charge(10);
  CHECK_THROWS_AS(heap.allocate(10), cvl::Failure);
  CHECK(heap.allocate(10));
  heap.discharge(10);
}
