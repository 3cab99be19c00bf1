#include "neslc/evaluation/failure_messages.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace neslc {
namespace {

struct Words {
  std::string_view check;
  std::string_view message;
  std::string_view hint;
};

constexpr std::string_view kIndex = "this index is outside the sequence";
constexpr std::string_view kCounting = "the elements of `v` are counted from 0 to `#v - 1`";

constexpr Words kChecks[] = {
    {"Sequence reference (a[i]) out of bounds", kIndex, kCounting},
    {"Index out of bounds for function ->", kIndex, kCounting},
    {"Index out of bounds for function <-", kIndex, kCounting},
    {"Divide by zero", "division by zero",
     "let `if` decide before dividing; a condition behind `|` is applied afterwards"},
    {"Divide by zero in function REM", "`rem`: division by zero", ""},
    {"Divide by zero in function MOD", "`mod`: division by zero", ""},
    {"In [s:e:l], e must be >= to s, and l must be positive", "this range does not count up",
     "`[start:end:stride]` needs start <= end and a positive stride; `reverse(...)` counts down"},
    {"The span of a range must be an int", "the start and the end of this range are too far apart",
     "their difference must be an int; with `--int=64` ints are longer"},
    {"Bounds error for function TAKE", "`take`: the sequence is too short", ""},
    {"Bounds error for function DROP", "`drop`: the sequence is too short", ""},
    {"Bounds error for function SUBSEQ", "`subseq`: these bounds are not in the sequence",
     "`subseq(v, start, end)` needs 0 <= start <= end <= `#v`"},
    {"Length mismatch in an apply-to-each",
     "the sequences of this apply-to-each have different lengths", ""},
    {"Length mismatch in function ZIP", "`zip`: the sequences have different lengths", ""},
    {"Length mismatch in function PARTITION",
     "`partition`: the lengths do not add up to that of the sequence", ""},
    {"Length mismatch for function INTERLEAVE", "`interleave`: the lengths do not fit",
     "the first sequence is as long as the second, or one element longer"},
    {"Lengths of subsequences are not equal in function TRANSPOSE",
     "`transpose`: the rows have different lengths", ""},
    {"Bad arguments to function PERMUTE", "`permute`: these are not the indices of the sequence",
     "each number from 0 to `#v - 1` occurs once"},
    {"Sqrt of negative number", "`sqrt` of a negative number", ""},
    {"Ln of negative number", "`ln` of a negative number", ""},
    {"The power must be nonnegative for ^ ", "`^`: the power is negative",
     "`expt(a, b)` takes any power of a float"},
    {"Rand only works with positive numbers", "`rand` of a number that is not positive",
     "`rand(n)` draws from 0 to n - 1"},
    {"The second argument for the function HASH must be positive",
     "`hash`: the second argument is not positive", ""},
};

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name that the text at a place begins with.
std::string_view name_at(const vcode::Source& source, vcode::Span span) {
  const std::string_view text = source.text(span);
  const auto size = static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), is_part_of_name) - text.begin());
  return size < text.size() && text[size] == '(' ? text.substr(0, size) : std::string_view();
}

// The `and` or `or` in front of the place in its line of whose right side it is part; empty: there
// is none.
std::string_view operator_before(const vcode::Source& source, vcode::Span span) {
  std::string_view before = source.line(span.line).substr(0, span.column - std::size_t{1});
  int closed = 0;              // brackets whose beginnings are still to come
  bool other_operand = false;  // of a comma, up to the next bracket
  while (!before.empty()) {
    const auto rest = std::find_if_not(before.rbegin(), before.rend(), is_part_of_name);
    const auto size = static_cast<std::size_t>(rest - before.rbegin());
    if (size > 0) {
      const std::string_view word = before.substr(before.size() - size);
      before.remove_suffix(size);
      if (closed > 0 || other_operand) continue;
      if (word == "and" || word == "or") return word;
      if (word == "then" || word == "else" || word == "in" || word == "let") return {};
      continue;
    }
    const char c = before.back();
    before.remove_suffix(1);
    if (c == ')' || c == ']' || c == '}') ++closed;
    if (closed == 0 && (c == ';' || c == ':' || c == '|' || c == '{')) return {};
    if (c == ',' && closed == 0) other_operand = true;
    if (c == '(' || c == '[' || c == '{') {
      if (closed == 0) other_operand = false;
      closed = std::max(closed - 1, 0);
    }
  }
  return {};
}

}  // namespace

void word_check(vcode::Diagnostic& diagnostic, std::string_view check) {
  const auto* found = std::find_if(std::begin(kChecks), std::end(kChecks),
                                   [&](const Words& words) { return words.check == check; });
  const bool known = found != std::end(kChecks);
  diagnostic.message = known ? found->message : check;
  if (known) diagnostic.hint = found->hint;
}

void word_failure(vcode::Diagnostic& diagnostic, const vcode::Source* source,
                  std::size_t own_notes) {
  if (diagnostic.code == vcode::ErrorCode::NeslCheck && source != nullptr && diagnostic.span) {
    const std::string_view combining = operator_before(*source, diagnostic.span);
    if (!combining.empty()) {
      const bool both = combining == "and";
      diagnostic.hint = fmt::format(
          "`{}` computes both sides; `if a then {} else {}` computes b only where a is {}",
          combining, both ? "b" : "t", both ? "f" : "b", both ? "true" : "false");
    }
  }
  if (diagnostic.code != vcode::ErrorCode::NegativeLength) return;
  const std::string_view name =
      source == nullptr ? std::string_view() : name_at(*source, diagnostic.span);
  const std::size_t number = std::min(diagnostic.message.find('-'), diagnostic.message.size());
  const std::size_t end = diagnostic.message.find(' ', number);
  const std::string length = diagnostic.message.substr(number, end - number);
  diagnostic.message = name.empty() ? fmt::format("a sequence of negative length: {}", length)
                                    : fmt::format("`{}`: negative length: {}", name, length);
  diagnostic.notes.erase(diagnostic.notes.begin(),
                         diagnostic.notes.begin() + static_cast<std::ptrdiff_t>(own_notes));
}

}  // namespace neslc
