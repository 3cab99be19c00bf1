#include "vcode/opcodes.hpp"

#include <array>

#include "vcode/word_table.hpp"

namespace vcode {
namespace {

constexpr OpInfo kOps[] = {
#define ELEMENTWISE(id, text, types, in, out, doc) \
  {Op::id, text, Family::Elementwise, Argument::types, in, out, "", "#0", "", doc},
#define SCAN(id, text, types, combiner, doc) \
  {Op::id, text, Family::Scan, Argument::types, "TS", "T", "$1=#0", "#0", #combiner, doc},
#define REDUCE(id, text, types, combiner, doc) \
  {Op::id, text, Family::Reduce, Argument::types, "TS", "T", "$1=#0", "#1", #combiner, doc},
#define COMBINE(id, text, types, combiner, doc)                                               \
  {Op::id,    text, Family::Combine, Argument::types, "TISS", "T", "#1=#0 $2=#0 #2=#3", "$3", \
   #combiner, doc},
#define VECTOR(id, text, types, family, in, out, checks, length, doc) \
  {Op::id, text, Family::family, Argument::types, in, out, checks, length, "", doc},
#define OTHER(id, text, argument, family, in, out, doc) \
  {Op::id, text, Family::family, Argument::argument, in, out, "", "", "", doc},
#include "vcode/opcodes.def"
};
static_assert(std::size(kOps) == kOpCount);

// ---- checks of the table, at compile time ----

constexpr bool letters_valid(std::string_view letters, std::size_t limit) {
  return letters.size() <= limit && letters.find_first_not_of("TIFBSP?*") == std::string_view::npos;
}

constexpr bool table_valid() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    if (static_cast<std::size_t>(kOps[i].op) != i) return false;
    if (!letters_valid(kOps[i].operands, kMaxOperands)) return false;
    if (!letters_valid(kOps[i].results, kMaxResults)) return false;
    const bool mentions_type = kOps[i].operands.find('T') != std::string_view::npos ||
                               kOps[i].results.find('T') != std::string_view::npos;
    if (mentions_type && !kOps[i].takes_type()) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (kOps[i].text == kOps[j].text) return false;
    }
  }
  return true;
}
static_assert(table_valid(), "opcodes.def: order, operand letters or a repeated spelling");

// ---- the columns of lengths ----

// Text such as "#1" or "$2"; nothing if it is something else.
constexpr std::optional<LengthTerm> parse_term(const OpInfo& op, std::string_view text) {
  if (text.size() != 2 || (text[0] != '$' && text[0] != '#')) return std::nullopt;
  const LengthTerm term{static_cast<std::uint8_t>(text[1] - '0'), text[0] == '$'};
  if (term.operand >= op.operands.size()) return std::nullopt;
  if (term.described && op.operands[term.operand] != 'S') return std::nullopt;
  return term;
}

struct RuleList {
  std::array<LengthRule, kMaxLengthRules> rules{};
  std::size_t count = 0;
  bool valid = true;
};

// Text such as "#1=#0 $2=#0": five characters a rule, separated by one blank.
constexpr RuleList parse_rules(const OpInfo& op) {
  RuleList list;
  constexpr std::size_t kRuleLength = 5;
  for (std::size_t at = 0; at < op.checks.size(); at += kRuleLength + 1) {
    const std::string_view rule = op.checks.substr(at, kRuleLength);
    if (rule.size() != kRuleLength || rule[2] != '=' || list.count == kMaxLengthRules) {
      list.valid = false;
      return list;
    }
    const auto left = parse_term(op, rule.substr(0, 2)), right = parse_term(op, rule.substr(3, 2));
    list.valid &= left && right;
    list.rules[list.count++] = {left.value_or(LengthTerm{}), right.value_or(LengthTerm{})};
  }
  return list;
}

constexpr auto kRules = [] {
  std::array<RuleList, kOpCount> all{};
  for (std::size_t i = 0; i < kOpCount; ++i) all[i] = parse_rules(kOps[i]);
  return all;
}();

constexpr bool rules_valid() {
  for (const RuleList& list : kRules) {
    if (!list.valid) return false;
  }
  return true;
}
static_assert(rules_valid(), "opcodes.def: a length rule that cannot be read");

constexpr auto kResultLengths = [] {
  std::array<std::optional<LengthTerm>, kOpCount> all{};
  for (std::size_t i = 0; i < kOpCount; ++i) all[i] = parse_term(kOps[i], kOps[i].length);
  return all;
}();

constexpr bool result_lengths_valid() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const std::string_view text = kOps[i].length;
    const bool is_term = !text.empty() && text != "?" && text != "1";
    if (kResultLengths[i].has_value() != is_term) return false;
  }
  return true;
}
static_assert(result_lengths_valid(), "opcodes.def: a length that cannot be read");

// ---- what folds alike ----

constexpr Op counterpart(Op op, Op first, Op other_first) {
  return static_cast<Op>(static_cast<int>(op) - static_cast<int>(first) +
                         static_cast<int>(other_first));
}

constexpr std::string_view combiner(Op op) {
  return kOps[static_cast<std::size_t>(op)].combiner;
}

// Their rows are in the same order.
constexpr bool folds_in_order() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const Op op = kOps[i].op;
    if (kOps[i].family == Family::Scan &&
        combiner(op) != combiner(counterpart(op, Op::AddScan, Op::AddReduce))) {
      return false;
    }
    if (kOps[i].family == Family::Combine &&
        combiner(op) != combiner(counterpart(op, Op::AddCombine, Op::AddReduce))) {
      return false;
    }
  }
  return true;
}
static_assert(folds_in_order(), "opcodes.def: SCAN, REDUCE and COMBINE rows in the same order");

// ---- lookup by spelling ----

static_assert(2 * kOpCount < 256);
constexpr WordTable<256> kWords(kOpCount, [](std::size_t k) { return kOps[k].text; });

}  // namespace

bool OpInfo::allows(Type type) const {
  switch (argument) {
    case Argument::Number:
      return type == Type::Int || type == Type::Float;
    case Argument::Logic:
      return type == Type::Int || type == Type::Bool;
    case Argument::Data:
      return is_data(type);
    case Argument::Value:
      return type != Type::Pair;
    case Argument::IntOnly:
      return type == Type::Int;
    default:
      return false;
  }
}

std::span<const OpInfo> all_ops() {
  return kOps;
}

const OpInfo& info(Op op) {
  return kOps[static_cast<std::size_t>(op)];
}

std::optional<Op> find_op(std::string_view text) {
  const std::size_t number = kWords.find(text);
  return number == kWords.kNone ? std::nullopt : std::optional(static_cast<Op>(number));
}

std::span<const LengthRule> length_rules(Op op) {
  const RuleList& list = kRules[static_cast<std::size_t>(op)];
  return {list.rules.data(), list.count};
}

std::optional<LengthTerm> result_length(Op op) {
  return kResultLengths[static_cast<std::size_t>(op)];
}

Op reduction_of(Op op) {
  const bool scan = info(op).family == Family::Scan;
  return counterpart(op, scan ? Op::AddScan : Op::AddCombine, Op::AddReduce);
}

Op scan_of(Op reduction) {
  return counterpart(reduction, Op::AddReduce, Op::AddScan);
}

std::optional<Type> operand_type(char letter, Type written) {
  switch (letter) {
    case 'T':
      return value_type(written);
    case 'I':
      return Type::Int;
    case 'F':
      return Type::Float;
    case 'B':
      return Type::Bool;
    case 'S':
      return Type::Segdes;
    case 'P':
      return Type::Pair;
    default:
      return std::nullopt;
  }
}

}  // namespace vcode
