#include "vcode/keywords.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace vcode {
namespace {

constexpr StreamName kStreams[] = {{"NULL_STREAM", -1}, {"STDIN", 0}, {"STDOUT", 1}, {"STDERR", 2}};
constexpr Type kWritable[] = {Type::Int, Type::Bool, Type::Float, Type::Segdes, Type::Char};
constexpr std::string_view kOtherReserved[] = {"FUNC", "T", "F", "I", "O"};

// Words that are longer are never compared: the cost grows with the product of the lengths.
constexpr std::size_t kLongestCompared = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::span<const StreamName> stream_names() {
  return kStreams;
}

std::optional<int> find_stream(std::string_view word) {
  for (const StreamName& stream : kStreams) {
    if (stream.text == word) return stream.number;
  }
  return std::nullopt;
}

std::optional<Type> find_type(std::string_view word) {
  constexpr std::size_t kShortest = 3, kLongest = 6;  // INT, SEGDES
  if (word.size() < kShortest || word.size() > kLongest) return std::nullopt;
  for (Type type : kWritable) {
    if (type_name(type) == word) return type;
  }
  return std::nullopt;
}

bool is_reserved(std::string_view word) {
  const auto op = find_op(word);
  return (op && *op != Op::Run) || find_type(word) || find_stream(word) ||
         std::find(std::begin(kOtherReserved), std::end(kOtherReserved), word) !=
             std::end(kOtherReserved);
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  // Three rows of the table of distances between prefixes: the last but one is for exchanges.
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before(width), previous(width), current(width);
  for (std::size_t j = 0; j < width; ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                             lower(a[i - 2]) == lower(b[j - 1]);
      if (exchanged) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return std::min(previous[b.size()], limit + 1);
}

NearestWord::NearestWord(std::string_view word) : word_(word), limit_(word.size() / 3) {
  if (word.size() == 2) limit_ = 1;
  if (word.size() > kLongestCompared) limit_ = 0;
}

void NearestWord::consider(std::string_view candidate) {
  if (candidate.size() > kLongestCompared || word_.size() > kLongestCompared) return;
  const std::size_t distance = edit_distance(word_, candidate, limit_);
  if (distance > limit_ || (!best_.empty() && distance == limit_)) return;
  best_ = candidate;
  limit_ = distance;
}

std::string nearest_operation(std::string_view word) {
  for (Type type : kWritable) {
    if (!word.ends_with(type_name(type))) continue;
    const std::string_view front = word.substr(0, word.size() - type_name(type).size());
    const auto op = find_op(front);
    if (op && info(*op).allows(type)) return fmt::format("{} {}", front, type_name(type));
  }
  NearestWord nearest(word);
  for (const OpInfo& op : all_ops()) {
    if (op.op != Op::Run) nearest.consider(op.text);  // a word of FCODE only
  }
  nearest.consider("FUNC");
  return std::string(nearest.best());
}

}  // namespace vcode
