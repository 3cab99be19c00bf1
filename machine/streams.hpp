// The streams of a VCODE program: numbers for open files, pipes and the standard streams.
//
// A program names a stream by a number; 0, 1 and 2 are the standard streams, NULL_STREAM (-1) is
// never open. A new stream takes the smallest free number, and closing frees a number, also 0 to 2.
// All descriptors opened here are closed in spawned processes. Not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/byte_buffer.hpp"
#include "machine/file_descriptor.hpp"
#include "machine/new_file.hpp"
#include "machine/numbers.hpp"

namespace vinterp {

inline constexpr std::int64_t kNullStream = -1;

/// One open stream; reads or writes, never both.
class Stream {
 public:
  enum class Direction { Read, Write };

  Stream(FileDescriptor fd, Direction direction)
      : fd_(std::move(fd)), direction_(direction), input_(fd_.get()), output_(fd_.get()) {}
  /// Of a file that is complete when the stream is closed.
  Stream(FileDescriptor fd, NewFile file) : Stream(std::move(fd), Direction::Write) {
    new_file_.emplace(std::move(file));
  }
  /// Flushes and closes, but leaves descriptors 0, 1 and 2 as they are: messages may follow.
  ~Stream();

  int fd() const { return fd_.get(); }
  bool readable() const { return direction_ == Direction::Read; }
  bool writable() const { return direction_ == Direction::Write; }
  bool is_terminal() const;
  /// REQUIRES: readable(), writable().
  InputBuffer& input() { return input_; }
  OutputBuffer& output() { return output_; }
  /// Puts the end of a file before its last line: from now on that line follows whatever is
  /// written. Returns 0 or the error number.
  int keep_last_line();
  /// Ends a write operation: everything written so far is in the file. Returns 0 or the error
  /// number.
  int finish_output();
  /// Flushes and closes. Returns 0 or the error number; the stream is closed in any case.
  /// Descriptors 0, 1 and 2 are left open on the null device, so that no later file takes a number
  /// that the process itself or a library writes to.
  int close();

  /// Where FREAD_NUMBERS goes on.
  NumberPlace number_place;

 private:
  FileDescriptor fd_;
  Direction direction_;
  InputBuffer input_;
  OutputBuffer output_;
  std::optional<NewFile> new_file_;
  std::string last_line_;  // stands behind the position in the file
};

class StreamTable {
 public:
  /// Takes over the three descriptors as the standard streams.
  explicit StreamTable(int in = 0, int out = 1, int err = 2);

  /// The open stream of that number, or null. Valid until the stream is closed.
  Stream* find(std::int64_t number);
  /// Gives the stream the smallest free number.
  std::int64_t add(std::unique_ptr<Stream> stream);
  std::int64_t add(FileDescriptor fd, Stream::Direction direction);
  /// Closes an open stream and frees its number. Returns 0 or the error number.
  int close(std::int64_t number);

 private:
  std::vector<std::unique_ptr<Stream>> streams_;
};

/// How FOPEN opens a file; the values are those of a program. Insert writes before the last line of
/// a file that exists, so that a file whose last line closes what the others begin is complete
/// after every operation. New writes a file that appears when it is closed (new_file.hpp).
enum class FileMode { Read = 1, Write = 2, Append = 3, Insert = 4, New = 5 };

/// Opens a file, not a New one; on failure the descriptor is empty and errno says why.
FileDescriptor open_file(const std::string& name, FileMode mode);

/// One that gives the same when it is read again: no pipe, no device.
bool is_ordinary_file(const FileDescriptor& fd);

/// The operating system's text of an error number.
std::string system_message(int error);

/// To be called once, before anything else opens a file. Makes sure that descriptors 0 to 2 are
/// taken (uses of closed ones still fail), and makes writing to a pipe without reader an ordinary
/// failure instead of a signal.
void prepare_standard_streams();

}  // namespace vinterp
