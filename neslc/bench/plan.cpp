#include "neslc/bench/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/options.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc::bench {
namespace {

constexpr double kLargestSize = 1e15;
constexpr std::uint64_t kMostThreads = 65536;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0, end = 0;
  do {
    end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  } while (end < text.size());
  return words;
}

std::int64_t parse_size(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 1 &&
                     value <= kLargestSize && value == std::floor(value);
  if (!whole) {
    throw vinterp::UsageError(
        fmt::format("`--n` needs whole numbers from 1 to 1e15, not `{}`", vcode::escaped(text)),
        "--n=1e3..1e6 or --n=10,20,50");
  }
  return static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> series(std::int64_t low, std::int64_t high, std::size_t per_decade) {
  if (low > high) {
    throw vinterp::UsageError(fmt::format("`--n` goes from {} down to {}", low, high),
                              "the smaller number comes first: --n=1e3..1e6");
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; sizes.size() <= kMostSizes; ++i) {
    const double factor = std::pow(10.0, static_cast<double>(i) / static_cast<double>(per_decade));
    const auto size = std::llround(static_cast<double>(low) * factor);
    if (size >= high) break;
    if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
  }
  sizes.push_back(high);
  return sizes;
}

}  // namespace

std::vector<std::int64_t> parse_sizes(const std::string& text, std::size_t per_decade) {
  if (per_decade > kMostSizes) {
    throw vinterp::UsageError(fmt::format("`--per-decade` is at most {}", kMostSizes));
  }
  constexpr std::string_view kTo = "..";
  const std::size_t to = text.find(kTo);
  std::vector<std::int64_t> sizes;
  if (to != std::string::npos) {
    sizes = series(parse_size(std::string_view(text).substr(0, to)),
                   parse_size(std::string_view(text).substr(to + kTo.size())), per_decade);
  } else {
    for (const std::string& word : words_of(text)) sizes.push_back(parse_size(word));
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
  if (sizes.size() > kMostSizes) {
    throw vinterp::UsageError(fmt::format("`--n` has more than {} values", kMostSizes));
  }
  return sizes;
}

std::vector<int> parse_threads(const std::string& text) {
  std::vector<int> threads;
  for (const std::string& word : words_of(text)) {
    const auto count =
        static_cast<int>(std::min(vinterp::parse_count("--threads", word, 1), kMostThreads));
    if (std::find(threads.begin(), threads.end(), count) == threads.end()) {
      threads.push_back(count);
    }
  }
  return threads;
}

std::string threads_text(int threads) {
  if (threads == 0) return "all threads";
  return threads == 1 ? "1 thread" : fmt::format("{} threads", threads);
}

}  // namespace neslc::bench
