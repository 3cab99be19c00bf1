// The memory of a device that kernels and host share: one range of addresses, of which it is known
// for each byte whether it belongs to a block in use and whether anybody has written it.
//
// Addresses are those of the host. None is handed out twice, so that an access to memory that was
// given back is found for as long as the device lives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptx_machine {

class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Memory of which no byte is in use yet; null when there is no more.
  std::byte* acquire(std::size_t bytes) noexcept;
  void release(std::byte* data, std::size_t bytes) noexcept;

  /// From now on these bytes may be accessed. They are garbage, which nobody may read ...
  void begin_use(std::byte* data, std::size_t bytes);
  /// ... until they are written, as the host does behind the back of this.
  void set_written(const void* data, std::size_t bytes);
  void end_use(std::byte* data, std::size_t bytes);

  /// Is the address one of the device?
  bool contains(std::uint64_t address) const { return address - base() < kBytes; }

  /// Throw Fault unless all of the bytes are in use. Bit k of a mask says of byte k that nobody has
  /// written it, or that what is written to it nobody has.
  std::uint32_t check_read(std::uint64_t address, std::size_t bytes) const;
  void check_write(std::uint64_t address, std::size_t bytes, std::uint32_t unwritten);
  /// The same for ranges of any length, which the host copies; all that it reads must be written.
  void check_range_read(const void* data, std::size_t bytes) const;
  void check_range_write(const void* data, std::size_t bytes);

 private:
  // Virtual: only what is touched takes memory.
  static constexpr std::size_t kBytes = std::size_t{1} << 42;
  enum State : std::uint8_t { kNotInUse, kFresh, kWritten };

  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::uint8_t* states(const void* data) const {
    return states_ + (reinterpret_cast<std::uint64_t>(data) - base());
  }
  [[noreturn]] void refuse(std::uint64_t address, std::size_t bytes, const char* what,
                           std::size_t wrong) const;

  std::byte* data_ = nullptr;
  std::uint8_t* states_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace ptx_machine
