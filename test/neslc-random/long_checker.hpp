// A program over long vectors, run in several ways: all must do the same.
#pragma once

#include <string>
#include <vector>

namespace neslc::random_test {

struct LongVerdict {
  std::string difference;  // empty: all runs agree
  bool stopped = false;    // by a run-time error
};

/// Runs the forms not optimized and, at -O3, with kernels, with their SPECs and on two threads.
LongVerdict check_long(const std::vector<std::string>& forms);

}  // namespace neslc::random_test
