#include "machine/read_ahead.hpp"

#include <cerrno>
#include <new>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "machine/interrupt.hpp"
#include "machine/tuning.hpp"

namespace vinterp {

std::unique_ptr<ReadAhead> ReadAhead::start(int fd, off_t offset) {
  std::unique_ptr<ReadAhead> reader;
  if (files_.fetch_add(1) < kMostFiles) {
    try {
      reader.reset(new ReadAhead(fd, offset));
    } catch (const std::system_error&) {  // GCOVR_EXCL_LINE: the program reads by itself
    } catch (const std::bad_alloc&) {     // GCOVR_EXCL_LINE: as above
    }
  }
  if (!reader) files_.fetch_sub(1);
  return reader;
}

ReadAhead::ReadAhead(int fd, off_t offset)
    : fd_(fd), offset_(offset), room_(static_cast<std::size_t>(tuning.read_ahead_bytes)) {
  for (std::size_t k = 0; k < kBlocks; ++k) {
    empty_.push_back(std::make_unique_for_overwrite<unsigned char[]>(room_));
  }
  const SignalsHeldBack inherited;
  thread_ = std::thread([this] { read(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
  files_.fetch_sub(1);
}

ReadAhead::Block ReadAhead::next(std::unique_ptr<unsigned char[]> used) {
  std::unique_lock lock(mutex_);
  if (used) {
    empty_.push_back(std::move(used));
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return !full_.empty(); });
  Block block = std::move(full_.front());
  full_.pop_front();
  return block;
}

void ReadAhead::read() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !empty_.empty(); });
    if (stopped_) return;
    std::unique_ptr<unsigned char[]> bytes = std::move(empty_.front());
    empty_.pop_front();
    lock.unlock();
    Block block = filled(std::move(bytes));
    lock.lock();
    const bool last = block.size == 0;
    full_.push_back(std::move(block));
    changed_.notify_all();
    if (last) return;
  }
}

ReadAhead::Block ReadAhead::filled(std::unique_ptr<unsigned char[]> bytes) {
  Block block{std::move(bytes)};
  ssize_t count;
  do {
    count = ::pread(fd_, block.bytes.get(), room_, offset_);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    block.error = errno;
  } else {
    block.size = static_cast<std::size_t>(count);
    offset_ += count;
  }
  return block;
}

}  // namespace vinterp
