#include "cvl-cpu/native_choices.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vcode/comparisons.hpp"

namespace cvl::cpu {

namespace {

using asmjit::x86::Reg;
using vcode::Op;

/// What has been computed on both of two ways.
std::vector<Reg> common(std::vector<Reg> held, const std::vector<Reg>& other) {
  for (std::size_t k = 0; k < held.size(); ++k) {
    if (held[k].isValid() && !(other[k].isValid() && other[k].id() == held[k].id())) {
      held[k] = Reg();
    }
  }
  return held;
}

}  // namespace

void ChoiceWriter::learn(Path& path, std::uint32_t number, bool value) const {
  const std::uint32_t k = path.same[number];
  if (path.known[k]) return;
  path.known[k] = value;
  if (const auto& range = ranges_[k]) {
    for (std::uint32_t other = 0; other < values_.size(); ++other) {
      const std::optional<Range>& same = ranges_[other];
      if (!same || same->index != range->index || same->size != range->size) continue;
      path.known[other] = same->inside == (range->inside == value);
    }
  }
  const std::uint32_t* args = values_[k].args;
  if (is_logic(k, Op::Not)) learn(path, args[0], !value);
  if (is_logic(k, value ? Op::And : Op::Or)) {
    learn(path, args[0], value);
    learn(path, args[1], value);
  }
}

void ChoiceWriter::find_simpler(Path& path) const {
  path.same.resize(values_.size());
  for (std::uint32_t k = 0; k < values_.size(); ++k) {
    path.same[k] = k;
    const Value& value = values_[k];
    if (value.kind == Value::Kind::Uniform && value.type == Type::Bool && value.number) {
      path.known[k] = *value.number != 0;
    }
    const auto begun = path.begins.find(k);
    if (begun != path.begins.end() && value.type == Type::Bool) path.known[k] = begun->second != 0;
    if (value.kind != Value::Kind::Apply) continue;
    if (const auto holds = compared_beginning(path, value)) path.known[k] = holds;
    const auto known = [&](int a) { return path.known[path.same[value.args[a]]]; };
    const auto become = [&](int a) { path.same[k] = path.same[value.args[a]]; };
    if (value.op == Op::Select) {
      if (known(0)) become(*known(0) ? 1 : 2);
    } else if (is_logic(k, Op::Not)) {
      if (known(0) && !path.known[k]) path.known[k] = !*known(0);
    } else if (is_logic(k, Op::And) || is_logic(k, Op::Or)) {
      const bool neutral = value.op == Op::And;
      for (const int a : {0, 1}) {
        if (!known(a)) continue;
        if (*known(a) == neutral) {
          become(1 - a);
        } else {
          path.known[k] = !neutral;
        }
      }
    }
    if (path.known[path.same[k]]) path.known[k] = path.known[path.same[k]];
  }
}

/// What the value is, if it is a comparison of a known component with a number.
std::optional<bool> ChoiceWriter::compared_beginning(const Path& path, const Value& value) const {
  const bool compares = vcode::is_comparison(value.op) && value.written == Type::Int &&
                        values_[value.args[1]].number.has_value();
  if (!compares) return std::nullopt;
  const auto found = path.begins.find(value.args[0]);
  if (found == path.begins.end()) return std::nullopt;
  return vcode::holds(value.op, found->second, *values_[value.args[1]].number);
}

ChoiceWriter::Path ChoiceWriter::given(const Path& path, std::uint32_t condition,
                                       bool value) const {
  Path result = path;
  learn(result, condition, value);
  find_simpler(result);
  return result;
}

std::vector<ChoiceWriter::Register> ChoiceWriter::branch(Path& path, std::uint32_t condition,
                                                         bool value, const Label& target) {
  const std::uint32_t k = path.same[condition];
  if (path.known[k]) {
    if (path.known[k] == value) c_.jmp(target);
    return path.held;
  }
  const std::uint32_t* args = values_[k].args;
  const bool is_open = !path.held[k].isValid() && !ranges_[k];
  if (is_open && is_logic(k, Op::Not)) return branch(path, args[0], !value, target);
  if (!is_open || (!is_logic(k, Op::And) && !is_logic(k, Op::Or))) {
    const CondCode holds = compare(path, k);
    c_.emit(asmjit::x86::Inst::jccFromCond(value ? holds : asmjit::x86::negateCond(holds)), target);
    return path.held;
  }
  if (is_logic(k, Op::Or) == value) {  // one of the two suffices
    const std::vector<Register> held = branch(path, args[0], value, target);
    path = given(path, args[0], !value);
    return common(held, branch(path, args[1], value, target));
  }
  const Label stays = c_.newLabel();
  Path rest = path;
  const std::vector<Register> held = branch(rest, args[0], !value, stays);
  rest = given(rest, args[0], value);
  std::vector<Register> at_target = branch(rest, args[1], value, target);
  c_.bind(stays);
  path.held = common(held, rest.held);
  return at_target;
}

}  // namespace cvl::cpu
