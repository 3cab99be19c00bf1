#include "cuda/ptx/block_memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"

namespace ptx_machine {
namespace {

constexpr std::byte kUnwritten{0xA5};

[[noreturn]] void race(std::uint64_t byte, const char* before, const Access& first,
                       const char* after, const Access& second) {
  throw Fault(
      fmt::format("race on shared memory: byte {} is {} by thread {} and {} by thread {}, and no "
                  "barrier lies between",
                  byte, before, unsigned{first.thread}, after, unsigned{second.thread}));
}

}  // namespace

void SharedMemory::reset(std::size_t bytes) {
  data_.assign(bytes, kUnwritten);
  if (bytes_.size() < bytes) bytes_.resize(bytes);
  first_phase_ = ++phase_;
}

bool SharedMemory::ordered(const Access& earlier, const Access& later) {
  return earlier.phase < later.phase ||
         (same_warp(earlier, later) && earlier.warp_phase < later.warp_phase);
}

bool SharedMemory::races(const Access& writer, const Access& who) {
  return writer.thread != who.thread && !ordered(writer, who) && !(writer.strong && who.strong);
}

bool SharedMemory::races(const Reader& reader, const Access& writer) {
  if (reader.phase < writer.phase || (reader.strong && writer.strong)) return false;
  if (reader.several_warps || !same_warp(reader, writer)) return true;
  return reader.warp_phase == writer.warp_phase &&
         (reader.several || reader.thread != writer.thread);
}

void SharedMemory::check_range(std::uint64_t offset, std::size_t bytes, const char* what) const {
  if (offset <= data_.size() && bytes <= data_.size() - offset) return;
  throw Fault(fmt::format("{} of {} bytes at {} of shared memory, of which the block has {} bytes",
                          what, bytes, static_cast<std::int64_t>(offset), data_.size()));
}

std::uint32_t SharedMemory::read(std::uint64_t offset, std::size_t bytes, const Access& who) {
  check_range(offset, bytes, "read");
  std::uint32_t unwritten = 0;
  for (std::size_t k = 0; k < bytes; ++k) {
    Byte& byte = bytes_[offset + k];
    const bool fresh = byte.writer.phase < first_phase_;
    if (fresh || byte.writer.unwritten) unwritten |= 1u << k;
    if (!fresh && races(byte.writer, who)) race(offset + k, "written", byte.writer, "read", who);
    Reader& reader = byte.reader;
    if (reader.phase < who.phase || (!reader.several_warps && ordered(reader, who))) {
      reader = Reader{who};
    } else {
      reader.several |= reader.thread != who.thread;
      reader.several_warps |= !same_warp(reader, who);
      reader.strong = reader.strong && who.strong;
    }
  }
  return unwritten;
}

void SharedMemory::write(std::uint64_t offset, std::size_t bytes, std::uint32_t unwritten,
                         Access who) {
  check_range(offset, bytes, "write");
  for (std::size_t k = 0; k < bytes; ++k) {
    Byte& byte = bytes_[offset + k];
    if (byte.writer.phase >= first_phase_ && races(byte.writer, who)) {
      race(offset + k, "written", byte.writer, "written", who);
    }
    if (races(byte.reader, who)) race(offset + k, "read", byte.reader, "written", who);
    who.unwritten = unwritten >> k & 1;
    byte.writer = who;
  }
}

void LocalMemory::reset(std::size_t bytes) {
  data_.assign(bytes, kUnwritten);
  written_.assign(bytes, 0);
}

void LocalMemory::check_range(std::uint64_t offset, std::size_t bytes, const char* what) const {
  if (offset <= data_.size() && bytes <= data_.size() - offset) return;
  throw Fault(fmt::format("{} of {} bytes at {} of local memory, of which the thread has {} bytes",
                          what, bytes, static_cast<std::int64_t>(offset), data_.size()));
}

std::uint32_t LocalMemory::read(std::uint64_t offset, std::size_t bytes) const {
  check_range(offset, bytes, "read");
  std::uint32_t unwritten = 0;
  for (std::size_t k = 0; k < bytes; ++k) {
    if (written_[offset + k] == 0) unwritten |= 1u << k;
  }
  return unwritten;
}

void LocalMemory::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  check_range(to, bytes, "copy");
  check_range(from, bytes, "copy");
  std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(from), bytes,
              data_.begin() + static_cast<std::ptrdiff_t>(to));
  std::copy_n(written_.begin() + static_cast<std::ptrdiff_t>(from), bytes,
              written_.begin() + static_cast<std::ptrdiff_t>(to));
}

void LocalMemory::write(std::uint64_t offset, std::size_t bytes, std::uint32_t unwritten) {
  check_range(offset, bytes, "write");
  for (std::size_t k = 0; k < bytes; ++k) {
    written_[offset + k] = (unwritten >> k & 1) != 0 ? 0 : 1;
  }
}

}  // namespace ptx_machine
