#include "vcode/kernel_words.hpp"

#include <algorithm>
#include <iterator>

#include "vcode/keywords.hpp"
#include "vcode/lexer.hpp"
#include "vcode/word_table.hpp"

namespace vcode {
namespace {

constexpr std::string_view kReduceSuffix = "_REDUCE";

/// All that is neither a combinator, an operation of thunks nor a type.
constexpr std::string_view kOtherWords[] = {
    "KERNEL", "IN",   "OUT", "DO", "SPEC", "END", "VEC",   "SEG",    "LET",  "IF",  "INTO",
    "WHEN",   "EXIT", "T",   "F",  "=",    "=>",  "WHILE", "ROUNDS", "PUSH", "POP", "DEPTH"};

struct CombinatorName {
  std::string_view text;
  Binding::Kind kind;
};
constexpr CombinatorName kCombinators[] = {
    {"MAP", Binding::Kind::Map},           {"SCAN", Binding::Kind::Scan},
    {"REDUCE", Binding::Kind::Reduce},     {"FILTER", Binding::Kind::Filter},
    {"SPLIT", Binding::Kind::Split},       {"SCATTER", Binding::Kind::Scatter},
    {"SEGMENTS", Binding::Kind::Segments}, {"ONCE", Binding::Kind::Once},
    {"SIZE", Binding::Kind::Size},         {"ASSERT", Binding::Kind::Assert},
    {"RAND", Binding::Kind::Random},       {"ITERATE", Binding::Kind::Iterate},
};

struct SegmentOperatorName {
  std::string_view text;
  ThunkNode::Kind kind;
};
constexpr SegmentOperatorName kSegmentOperators[] = {
    {"SEGNO", ThunkNode::Kind::SegNo},   {"SEGOFF", ThunkNode::Kind::SegOff},
    {"SEGLEN", ThunkNode::Kind::SegLen}, {"SEGSTART", ThunkNode::Kind::SegStart},
    {"NSEG", ThunkNode::Kind::SegCount},
};

// Combinators, segment operators and the other words.
constexpr std::size_t kWordCount =
    std::size(kCombinators) + std::size(kSegmentOperators) + std::size(kOtherWords);
static_assert(2 * kWordCount < 128);
constexpr WordTable<128> kKernelWords(kWordCount, [](std::size_t k) {
  if (k < std::size(kCombinators)) return kCombinators[k].text;
  k -= std::size(kCombinators);
  if (k < std::size(kSegmentOperators)) return kSegmentOperators[k].text;
  return kOtherWords[k - std::size(kSegmentOperators)];
});

}  // namespace

bool is_reserved_in_kernels(std::string_view word) {
  return kKernelWords.find(word) != kKernelWords.kNone || find_thunk_operation(word) ||
         find_type(word);
}

bool can_name_in_kernels(std::string_view word) {
  return is_word(word) && !is_reserved_in_kernels(word);
}

std::optional<Binding::Kind> find_combinator(std::string_view word) {
  const std::size_t number = kKernelWords.find(word);
  if (number >= std::size(kCombinators)) return std::nullopt;
  const Binding::Kind kind = kCombinators[number].kind;
  if (kind == Binding::Kind::Size || kind == Binding::Kind::Assert) return std::nullopt;
  return kind;
}

std::string_view combinator_name(Binding::Kind kind) {
  return std::find_if(std::begin(kCombinators), std::end(kCombinators),
                      [&](const CombinatorName& row) { return row.kind == kind; })
      ->text;
}

std::optional<ThunkNode::Kind> find_segment_operator(std::string_view word) {
  const std::size_t number = kKernelWords.find(word) - std::size(kCombinators);
  if (number >= std::size(kSegmentOperators)) return std::nullopt;  // combinators wrap around
  return kSegmentOperators[number].kind;
}

std::string_view segment_operator_name(ThunkNode::Kind kind) {
  return std::find_if(std::begin(kSegmentOperators), std::end(kSegmentOperators),
                      [&](const SegmentOperatorName& row) { return row.kind == kind; })
      ->text;
}

std::optional<Op> find_monoid(std::string_view word) {
  for (const OpInfo& op : all_ops()) {
    const bool same = op.family == Family::Reduce && op.text.starts_with(word) &&
                      op.text.substr(word.size()) == kReduceSuffix;
    if (same) return op.op;
  }
  return std::nullopt;
}

std::string monoid_text(Monoid monoid) {
  std::string_view word = info(monoid.op).text;
  word.remove_suffix(kReduceSuffix.size());
  return std::string(word) + ' ' + std::string(type_name(monoid.type));
}

std::optional<Op> find_thunk_operation(std::string_view word) {
  const auto op = find_op(word);
  return op && info(*op).family == Family::Elementwise ? op : std::nullopt;
}

}  // namespace vcode
