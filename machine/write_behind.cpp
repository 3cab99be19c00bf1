#include "machine/write_behind.hpp"

#include <string_view>
#include <utility>

#include "machine/byte_buffer.hpp"
#include "machine/interrupt.hpp"

namespace vinterp {

WriteBehind::WriteBehind(int fd, std::size_t room) : fd_(fd) {
  for (std::size_t k = 0; k < kBlocks; ++k) {
    empty_.push_back(std::make_unique_for_overwrite<char[]>(room));
  }
  const SignalsHeldBack inherited;
  thread_ = std::thread([this] { write(); });
}

WriteBehind::~WriteBehind() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<char[]> WriteBehind::exchange(std::unique_ptr<char[]> block, std::size_t size) {
  std::unique_lock lock(mutex_);
  full_.push_back({std::move(block), size});
  changed_.notify_all();
  changed_.wait(lock, [&] { return !empty_.empty(); });
  std::unique_ptr<char[]> other = std::move(empty_.front());
  empty_.pop_front();
  return other;
}

void WriteBehind::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return full_.empty() && !writing_; });
}

int WriteBehind::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void WriteBehind::write() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !full_.empty(); });
    if (stopped_) return;
    Block block = std::move(full_.front());
    full_.pop_front();
    writing_ = true;
    if (error_ == 0) {
      lock.unlock();
      const int error = write_fully(fd_, {block.bytes.get(), block.size});
      lock.lock();
      error_ = error;
    }
    writing_ = false;
    empty_.push_back(std::move(block.bytes));
    changed_.notify_all();
  }
}

}  // namespace vinterp
