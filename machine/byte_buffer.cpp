#include "machine/byte_buffer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "machine/interrupt.hpp"

namespace vinterp {
namespace {

/// Should a call that failed with the current errno be repeated? Waits until a descriptor in
/// non-blocking mode (inherited ones may be) is ready.
bool may_repeat(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd ready{fd, events, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

/// How often this thread has waited for something so far.
long waits_of_thread() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/// Writes all bytes, or until `must_stop()` holds. Returns 0 or the error number.
template <class Stop>
int write_bytes(int fd, std::string_view bytes, Stop must_stop) {
  while (!bytes.empty()) {
    if (must_stop()) return EINTR;
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (!may_repeat(fd, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

bool InputBuffer::refill() {
  if (ended_) return false;
  if (reads_ahead()) {
    refill_from_ahead();
  } else {
    if (!data_) data_ = std::make_unique_for_overwrite<unsigned char[]>(room_);
    next_ = 0;
    last_ = read(data_.get(), room_);
  }
  return last_ > 0;
}

/// Does another thread read the file? If it is time, it begins to. What lies in the system's cache
/// is copied faster than it could be passed on. REQUIRES: next_ == last_
bool InputBuffer::reads_ahead() {
  if (ahead_ || !may_read_ahead_ || waits_ < tuning.read_ahead_after) return ahead_ != nullptr;
  offset_ = ::lseek(fd_, 0, SEEK_CUR);
  ahead_ = ReadAhead::start(fd_, offset_);
  may_read_ahead_ = ahead_ != nullptr;
  if (ahead_) data_.reset();
  return may_read_ahead_;
}

void InputBuffer::refill_from_ahead() {
  next_ = last_ = 0;
  error_ = must_end() ? EINTR : 0;
  if (error_ == 0) {
    ReadAhead::Block block = ahead_->next(std::move(data_));
    data_ = std::move(block.bytes);
    last_ = block.size;
    error_ = block.error;
    offset_ += static_cast<off_t>(block.size);
  }
  if (last_ > 0) return;
  // A file that grows can be read on from here.
  ended_ = true;
  ahead_.reset();
  data_.reset();
  ::lseek(fd_, offset_, SEEK_SET);
}

/// From the descriptor. Returns how many bytes; 0 at the end.
std::size_t InputBuffer::read(void* to, std::size_t most) {
  while (!must_end()) {
    const long waits = may_read_ahead_ ? waits_of_thread() : 0;
    const ssize_t count = ::read(fd_, to, most);
    if (may_read_ahead_ && waits_of_thread() != waits) ++waits_;
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && may_repeat(fd_, POLLIN)) continue;
    error_ = count < 0 ? errno : 0;
    ended_ = true;
    return 0;
  }
  error_ = EINTR;
  ended_ = true;
  return 0;
}

std::size_t InputBuffer::take(char* to, std::size_t most) {
  if (next_ == last_ && most >= room_ && !reads_ahead()) {
    // In pieces, between which the run can be asked to end.
    constexpr std::size_t kPiece = std::size_t{4} << 20;
    return ended_ ? 0 : read(to, std::min(most, kPiece));
  }
  const std::string_view found = ahead().substr(0, most);
  found.copy(to, found.size());
  skip(found.size());
  return found.size();
}

std::size_t InputBuffer::expected() const {
  const std::size_t buffered = last_ - next_;
  struct stat status;
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return buffered;
  const off_t rest = status.st_size - (ahead_ ? offset_ : ::lseek(fd_, 0, SEEK_CUR));
  return buffered + (rest > 0 ? static_cast<std::size_t>(rest) : 0);
}

int OutputBuffer::write(std::string_view bytes) {
  if (!data_) data_ = std::make_unique_for_overwrite<char[]>(room_);
  if (used_ + bytes.size() > room_) {
    if (const int error = flush(); error != 0) return error;
    if (bytes.size() >= room_) return write_bytes(fd_, bytes, must_end);
  }
  std::memcpy(data_.get() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
  return 0;
}

int OutputBuffer::flush() {
  const std::size_t count = used_;
  used_ = 0;
  return write_bytes(fd_, {data_.get(), count}, must_end);
}

int write_fully(int fd, std::string_view bytes) {
  return write_bytes(fd, bytes, [] { return false; });
}

}  // namespace vinterp
