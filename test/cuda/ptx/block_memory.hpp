// Memory that kernels have for the time of a launch: shared memory of a block, local memory of a
// thread. Both know which bytes nobody has written; shared memory also knows who touched a byte
// since the last barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx_machine {

/// Who accesses shared memory, and when: `phase` counts the barriers of the block, `warp_phase`
/// those of the thread's warp since then.
struct Access {
  std::uint32_t phase = 0;
  std::uint16_t warp_phase = 0;
  std::uint16_t thread : 11 = 0;
  /// Atomic, volatile, acquire or release: two of these are no race.
  std::uint16_t strong : 1 = 0;
  /// Of a write: of what nobody has written.
  std::uint16_t unwritten : 1 = 0;
};

class SharedMemory {
 public:
  static constexpr std::uint32_t kWarp = 32;

  /// All garbage, for another block.
  void reset(std::size_t bytes);
  std::uint32_t phase() const { return phase_; }
  /// All threads have met.
  void barrier() { ++phase_; }

  std::size_t size() const { return data_.size(); }
  std::byte* data() { return data_.data(); }

  /// Throw Fault for what lies outside, or races with another thread. Bit k of a mask says of byte
  /// k that nobody has written it, or that what is written to it nobody has.
  std::uint32_t read(std::uint64_t offset, std::size_t bytes, const Access& who);
  void write(std::uint64_t offset, std::size_t bytes, std::uint32_t unwritten, Access who);

 private:
  struct Reader : Access {
    bool several = false;        // threads have read
    bool several_warps = false;  // and not of one warp
  };
  struct Byte {
    Access writer;
    Reader reader;
  };

  static bool same_warp(const Access& a, const Access& b) {
    return a.thread / kWarp == b.thread / kWarp;
  }
  /// Does a barrier lie between the earlier access and the later one?
  static bool ordered(const Access& earlier, const Access& later);
  static bool races(const Access& writer, const Access& who);
  static bool races(const Reader& reader, const Access& writer);
  void check_range(std::uint64_t offset, std::size_t bytes, const char* what) const;

  std::vector<std::byte> data_;
  std::vector<Byte> bytes_;
  std::uint32_t first_phase_ = 0;  // of this block; what was touched before was another one's
  std::uint32_t phase_ = 0;
};

class LocalMemory {
 public:
  void reset(std::size_t bytes);
  std::size_t size() const { return data_.size(); }
  std::byte* data() { return data_.data(); }
  std::uint32_t read(std::uint64_t offset, std::size_t bytes) const;
  void write(std::uint64_t offset, std::size_t bytes, std::uint32_t unwritten);
  /// With what nobody has written: of values with gaps, nobody writes these.
  void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);

 private:
  void check_range(std::uint64_t offset, std::size_t bytes, const char* what) const;

  std::vector<std::byte> data_;
  std::vector<std::uint8_t> written_;
};

}  // namespace ptx_machine
