// Writes a file while the program goes on to what it writes next.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace vinterp {

/// A thread that writes blocks to a descriptor in the order in which they come. To be used from one
/// thread.
class WriteBehind {
 public:
  /// `room`: bytes of a block. The descriptor must stay open as long as this lives. Throws
  /// std::system_error where no thread can be started.
  WriteBehind(int fd, std::size_t room);
  /// What has not been written yet is dropped.
  ~WriteBehind();

  /// Takes the first `size` bytes of a block and gives another one, for which it waits while much
  /// is still to be written.
  std::unique_ptr<char[]> exchange(std::unique_ptr<char[]> block, std::size_t size);
  /// Waits until everything has been written.
  void wait();
  /// The number of the first error, 0 if there was none. Behind it nothing is written.
  int error();

 private:
  static constexpr std::size_t kBlocks = 4;
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  void write();

  int fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<char[]>> empty_;
  std::deque<Block> full_;
  bool writing_ = false;
  bool stopped_ = false;
  int error_ = 0;
  std::thread thread_;
};

}  // namespace vinterp
