// Buffered bytes from and to descriptors, without stdio: errors stay with the buffer that met them,
// interrupted calls are repeated, and descriptors in non-blocking mode are waited for. When the run
// is asked to end (interrupt.hpp), both buffers fail with EINTR.
//
// Neither class owns its descriptor.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <sys/types.h>

#include "machine/read_ahead.hpp"
#include "machine/tuning.hpp"

namespace vinterp {

/// Bytes read from a descriptor. The end of the input is remembered only until begin(), so that a
/// file that grows or a terminal can be read on.
class InputBuffer {
 public:
  static constexpr int kEnd = -1;

  explicit InputBuffer(int fd) : fd_(fd) {}

  /// Of an ordinary file that nobody else reads: where reads have to wait, as for a disk, another
  /// thread reads on.
  void allow_reading_ahead() { may_read_ahead_ = true; }
  /// Reads no more: the descriptor is about to be closed.
  void stop() { ahead_.reset(); }

  /// Starts an operation: forgets an end or an error met by the one before.
  void begin() {
    ended_ = false;
    error_ = 0;
  }
  /// The next byte, 0 ... 255, or kEnd; peek() leaves it in place.
  int peek() { return next_ < last_ || refill() ? data_[next_] : kEnd; }
  int get() { return next_ < last_ || refill() ? data_[next_++] : kEnd; }
  /// What has been read already, but not been taken; nothing only at the end.
  std::string_view ahead() {
    if (next_ == last_ && !refill()) return {};
    return {reinterpret_cast<const char*>(data_.get() + next_), last_ - next_};
  }
  /// Takes up to `most` bytes and puts them there, many of them without a copy. Returns how many;
  /// 0 only at the end. REQUIRES: 0 < most
  std::size_t take(char* to, std::size_t most);
  /// Takes bytes. REQUIRES: count <= ahead().size()
  void skip(std::size_t count) { next_ += count; }
  /// How many bytes are probably left: of a regular file the rest, of other inputs what has been
  /// read already.
  std::size_t expected() const;
  /// The error number that ended the input, 0 at its proper end.
  int error() const { return error_; }

 private:
  bool refill();
  bool reads_ahead();
  void refill_from_ahead();
  std::size_t read(void* to, std::size_t most);

  int fd_;
  std::size_t room_ = static_cast<std::size_t>(tuning.input_bytes);
  std::unique_ptr<unsigned char[]> data_;  // made at the first read
  std::size_t next_ = 0;
  std::size_t last_ = 0;
  bool ended_ = false;
  int error_ = 0;
  bool may_read_ahead_ = false;
  int waits_ = 0;                     // so many reads so far
  std::unique_ptr<ReadAhead> ahead_;  // while this reads the file instead
  off_t offset_ = 0;                  // then: of what it gives next
};

/// Bytes on their way to a descriptor.
class OutputBuffer {
 public:
  explicit OutputBuffer(int fd) : fd_(fd) {}

  /// Both return 0 or the error number. After an error the bytes still waiting are dropped, so that
  /// they cannot turn up in a later operation.
  int write(std::string_view bytes);
  int flush();

 private:
  int fd_;
  std::size_t room_ = static_cast<std::size_t>(tuning.output_bytes);
  std::unique_ptr<char[]> data_;
  std::size_t used_ = 0;
};

/// Writes all bytes at once, also when the run is asked to end: reports are written then. Returns 0
/// or the error number.
int write_fully(int fd, std::string_view bytes);

}  // namespace vinterp
