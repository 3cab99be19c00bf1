#include "cuda/ptx/memory.hpp"

#include <cstring>
#include <new>
#include <sys/mman.h>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"

namespace ptx_machine {
namespace {

constexpr int kGarbage = 0xC3;
constexpr std::size_t kPage = 4096;

void* reserve(std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}

}  // namespace

Memory::Memory()
    : data_(static_cast<std::byte*>(reserve(kBytes))),
      states_(static_cast<std::uint8_t*>(reserve(kBytes))) {}

Memory::~Memory() {
  munmap(data_, kBytes);
  munmap(states_, kBytes);
}

std::byte* Memory::acquire(std::size_t bytes) noexcept {
  // A page lies between any two, so that nothing runs on from one into the next.
  const std::size_t pages = (bytes + 2 * kPage - 1) / kPage * kPage;
  if (pages < bytes || pages > kBytes - used_) return nullptr;
  std::byte* data = data_ + used_;
  used_ += pages;
  return data;
}

void Memory::release(std::byte* data, std::size_t bytes) noexcept {
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  madvise(data, pages, MADV_DONTNEED);
  madvise(states(data), pages, MADV_DONTNEED);  // all zero: not in use
}

void Memory::begin_use(std::byte* data, std::size_t bytes) {
  std::memset(data, kGarbage, bytes);
  std::memset(states(data), kFresh, bytes);
}

void Memory::set_written(const void* data, std::size_t bytes) {
  std::memset(states(data), kWritten, bytes);
}

void Memory::end_use(std::byte* data, std::size_t bytes) {
  std::memset(states(data), kNotInUse, bytes);
}

void Memory::refuse(std::uint64_t address, std::size_t bytes, const char* what,
                    std::size_t wrong) const {
  throw Fault(
      fmt::format("{} of {} bytes at {:#x}: byte {} is {}", what, bytes, address, wrong,
                  contains(address + wrong) && states_[address + wrong - base()] != kNotInUse
                      ? "in use, but nobody has written it"
                      : "in no block of device memory that is in use"));
}

std::uint32_t Memory::check_read(std::uint64_t address, std::size_t bytes) const {
  if (!contains(address) || !contains(address + bytes)) refuse(address, bytes, "read", 0);
  std::uint32_t unwritten = 0;
  const std::uint8_t* state = states_ + (address - base());
  for (std::size_t k = 0; k < bytes; ++k) {
    if (state[k] == kWritten) continue;
    if (state[k] == kNotInUse) refuse(address, bytes, "read", k);
    unwritten |= 1u << k;
  }
  return unwritten;
}

void Memory::check_write(std::uint64_t address, std::size_t bytes, std::uint32_t unwritten) {
  if (!contains(address) || !contains(address + bytes)) refuse(address, bytes, "write", 0);
  std::uint8_t* state = states_ + (address - base());
  for (std::size_t k = 0; k < bytes; ++k) {
    if (state[k] == kNotInUse) refuse(address, bytes, "write", k);
    state[k] = (unwritten >> k & 1) != 0 ? kFresh : kWritten;
  }
}

void Memory::check_range_read(const void* data, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  if (!contains(address) || !contains(address + bytes)) refuse(address, bytes, "copy", 0);
  const std::uint8_t* state = states(data);
  for (std::size_t k = 0; k < bytes; ++k) {
    if (state[k] != kWritten) refuse(address, bytes, "copy", k);
  }
}

void Memory::check_range_write(const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  if (!contains(address) || !contains(address + bytes)) refuse(address, bytes, "copy to", 0);
  std::uint8_t* state = states(data);
  for (std::size_t k = 0; k < bytes; ++k) {
    if (state[k] == kNotInUse) refuse(address, bytes, "copy to", k);
  }
  std::memset(state, kWritten, bytes);
}

}  // namespace ptx_machine
