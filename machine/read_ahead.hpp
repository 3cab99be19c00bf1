// Reads a file on while the program works on what it has read so far.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>

namespace vinterp {

/// A thread that fills some blocks with what comes next in a file and waits until one of them is
/// given back. To be used from one thread.
class ReadAhead {
 public:
  struct Block {
    std::unique_ptr<unsigned char[]> bytes;
    std::size_t size = 0;  // 0: the end of the file, or an error
    int error = 0;         // its number
  };

  /// Begins at an offset of an ordinary file, which must stay open as long as this lives; its own
  /// position stays where it is. Null where no thread can be started, or as many files as is
  /// reasonable are being read on.
  static std::unique_ptr<ReadAhead> start(int fd, off_t offset);
  ~ReadAhead();

  /// Waits for the next block, after giving one back whose bytes are no longer needed. Behind the
  /// end there are no more.
  Block next(std::unique_ptr<unsigned char[]> used);

 private:
  static constexpr std::size_t kBlocks = 3;
  static constexpr int kMostFiles = 4;

  ReadAhead(int fd, off_t offset);
  void read();
  Block filled(std::unique_ptr<unsigned char[]> bytes);

  static inline std::atomic<int> files_{0};  // that are being read on

  int fd_;
  off_t offset_;
  std::size_t room_;  // of a block
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<unsigned char[]>> empty_;
  std::deque<Block> full_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace vinterp
