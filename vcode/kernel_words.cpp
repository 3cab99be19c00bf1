#include "vcode/kernel_words.hpp"

#include <algorithm>
#include <iterator>

#include "vcode/keywords.hpp"
#include "vcode/lexer.hpp"

namespace vcode {
namespace {

constexpr std::string_view kReduceSuffix = "_REDUCE";

constexpr std::string_view kOtherWords[] = {
    "KERNEL", "STREAM", "AUTO", "IN",   "OUT",    "REUSE", "DO", "SPEC", "END", "VEC", "SEG", "LET",
    "IF",     "INTO",   "WHEN", "SIZE", "ASSERT", "EXIT",  "T",  "F",    "=",   "=>",  "->"};

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
    {"RAND", Binding::Kind::Random},
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

template <typename Row>
const Row* find_row(std::string_view word, const Row* begin, const Row* end) {
  const Row* const row = std::find_if(begin, end, [&](const Row& r) { return r.text == word; });
  return row == end ? nullptr : row;
}

}  // namespace

bool is_reserved_in_kernels(std::string_view word) {
  return std::find(std::begin(kOtherWords), std::end(kOtherWords), word) != std::end(kOtherWords) ||
         find_combinator(word) || find_segment_operator(word) || find_monoid(word) ||
         find_thunk_operation(word) || find_type(word);
}

bool can_name_in_kernels(std::string_view word) {
  return is_word(word) && !is_reserved_in_kernels(word);
}

std::optional<Feature> find_feature(std::string_view word) {
  for (int i = 0; i < kFeatures; ++i) {
    if (feature_name(static_cast<Feature>(i)) == word) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

std::optional<Binding::Kind> find_combinator(std::string_view word) {
  const auto* row = find_row(word, std::begin(kCombinators), std::end(kCombinators));
  if (row == nullptr || row->kind == Binding::Kind::Size || row->kind == Binding::Kind::Assert) {
    return std::nullopt;
  }
  return row->kind;
}

std::string_view combinator_name(Binding::Kind kind) {
  return std::find_if(std::begin(kCombinators), std::end(kCombinators),
                      [&](const CombinatorName& row) { return row.kind == kind; })
      ->text;
}

std::optional<ThunkNode::Kind> find_segment_operator(std::string_view word) {
  const auto* row = find_row(word, std::begin(kSegmentOperators), std::end(kSegmentOperators));
  return row == nullptr ? std::nullopt : std::optional(row->kind);
}

std::string_view segment_operator_name(ThunkNode::Kind kind) {
  return std::find_if(std::begin(kSegmentOperators), std::end(kSegmentOperators),
                      [&](const SegmentOperatorName& row) { return row.kind == kind; })
      ->text;
}

std::optional<Op> find_monoid(std::string_view word) {
  const auto op = find_op(std::string(word) + std::string(kReduceSuffix));
  return op && info(*op).family == Family::Reduce ? op : std::nullopt;
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
