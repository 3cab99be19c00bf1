// What `nesl bench` is asked to measure, as its options say it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace neslc::bench {

struct Plan {
  std::string expression;           // in terms of `n`
  std::string setup;                // forms that are evaluated, and not measured, once `n` is bound
  std::vector<std::int64_t> sizes;  // values of `n`, from 1 on, ascending
  std::vector<int> threads;         // not empty; 0: one per processor
  std::size_t repetitions = 0;      // of each measurement; 0: as many as it takes
};

inline constexpr std::size_t kMostSizes = 1000;

/// `LOW..HIGH`, a geometric series with `per_decade` sizes for each factor of ten, which ends with
/// HIGH, or a list such as `10,20,50`. Numbers may be written as 1e6. Throws vinterp::UsageError.
std::vector<std::int64_t> parse_sizes(const std::string& text, std::size_t per_decade);

/// A list of numbers of threads, such as `1,2,4`, each once. Throws vinterp::UsageError.
std::vector<int> parse_threads(const std::string& text);

/// "1 thread", "4 threads", "all threads".
std::string threads_text(int threads);

}  // namespace neslc::bench
