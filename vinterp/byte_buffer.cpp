#include "vinterp/byte_buffer.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "vinterp/interrupt.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

/// Is the run asked to end? Input and output may go on for ever otherwise.
bool must_end() {
  if (pending_signal.load(std::memory_order_relaxed) == 0) return false;
  errno = EINTR;
  return true;
}

/// Should a call that failed with the current errno be repeated? Waits until a descriptor in
/// non-blocking mode (inherited ones may be) is ready.
bool may_repeat(int fd, short events) {
  if (errno == EINTR) return !must_end();
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd ready{fd, events, 0};
  return ::poll(&ready, 1, -1) >= 0 || (errno == EINTR && !must_end());
}

}  // namespace

bool InputBuffer::refill() {
  if (ended_) return false;
  if (!data_) data_ = std::make_unique<unsigned char[]>(kBufferBytes);
  next_ = last_ = 0;
  for (;;) {
    const ssize_t count = must_end() ? -1 : ::read(fd_, data_.get(), kBufferBytes);
    if (count > 0) {
      last_ = static_cast<std::size_t>(count);
      return true;
    }
    if (count < 0) {
      if (may_repeat(fd_, POLLIN)) continue;
      error_ = errno;
    }
    ended_ = true;
    return false;
  }
}

int OutputBuffer::write(std::string_view bytes) {
  if (!data_) data_ = std::make_unique<char[]>(kBufferBytes);
  if (used_ + bytes.size() > kBufferBytes) {
    if (const int error = flush(); error != 0) return error;
    if (bytes.size() >= kBufferBytes) return write_fully(fd_, bytes);
  }
  std::memcpy(data_.get() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
  return 0;
}

int OutputBuffer::flush() {
  const std::size_t count = used_;
  used_ = 0;
  return count == 0 ? 0 : write_fully(fd_, {data_.get(), count});
}

int write_fully(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = must_end() ? -1 : ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (!may_repeat(fd, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

}  // namespace vinterp
