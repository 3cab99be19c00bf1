#include "neslc/graph/data_flow.hpp"

#include <algorithm>
#include <utility>

namespace neslc::graph {

void DataFlow::prune() {
  std::vector<bool> needed(data.size());
  for (const std::size_t datum : results) needed[datum] = true;
  std::vector<bool> kept(operations.size());
  for (std::size_t i = operations.size(); i-- > 0;) {
    for (const std::size_t datum : operations[i].out) kept[i] = kept[i] || needed[datum];
    if (!kept[i]) continue;
    for (const std::size_t datum : operations[i].in) needed[datum] = true;
  }
  std::vector<Operation> left;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!kept[i]) continue;
    for (const std::size_t datum : operations[i].out) data[datum].producer = left.size();
    left.push_back(std::move(operations[i]));
  }
  operations = std::move(left);
}

namespace {

/// Works out what one operation says about its operands and results.
class Rules {
 public:
  /// `single`: descriptors of one segment count too.
  Rules(DataFlow& flow, const Operation& operation, bool single)
      : data_(flow.data),
        operation_(operation),
        info_(vcode::info(operation.op)),
        single_(single) {}

  /// Has anything been found out?
  bool apply() {
    if (info_.family == vcode::Family::Elementwise) {
      for (std::size_t i = 1; i < operation_.in.size(); ++i) same(in(0), in(i));
      same(in(0), out(0));
      return changed_;
    }
    for (const vcode::LengthRule& rule : vcode::length_rules(operation_.op)) {
      relate(rule.left, in(rule.right.operand));
      relate(rule.right, in(rule.left.operand));
      if (!rule.left.described && !rule.right.described) {
        same(in(rule.left.operand), in(rule.right.operand));
      }
    }
    if (const auto term = vcode::result_length(operation_.op); term && !operation_.out.empty()) {
      if (term->described) {
        divide(out(0), in(term->operand));
      } else {
        same(in(term->operand), out(0));
      }
    }
    if (info_.family == vcode::Family::Pack) divide(out(0), out(1));
    return changed_;
  }

 private:
  std::size_t in(std::size_t i) const { return operation_.in[i]; }
  std::size_t out(std::size_t i) const { return operation_.out[i]; }

  void relate(const vcode::LengthTerm& term, std::size_t vector) {
    if (term.described && !data_[vector].descriptor) divide(vector, in(term.operand));
  }

  void divide(std::size_t vector, std::size_t descriptor) {
    if (data_[vector].segments != kNone || (data_[descriptor].length == 1 && !single_)) return;
    data_[vector].segments = descriptor;
    changed_ = true;
  }

  /// Elements stand beside each other.
  void same(std::size_t a, std::size_t b) {
    if (data_[a].descriptor || data_[b].descriptor) return;
    if (data_[a].segments != kNone) divide(b, data_[a].segments);
    if (data_[b].segments != kNone) divide(a, data_[b].segments);
  }

  std::vector<Datum>& data_;
  const Operation& operation_;
  const vcode::OpInfo& info_;
  bool single_;
  bool changed_ = false;
};

}  // namespace

void DataFlow::find_segments() {
  // A vector of all elements may also be seen as one segment, which says less.
  find_segments(false);
  find_segments(true);
  lower_levels();
}

/// The components of a sequence: its descriptors, the innermost last, and what is in it.
void DataFlow::divide_results(bool single) {
  std::size_t innermost = kNone;
  for (const std::size_t result : results) {
    Datum& datum = data[result];
    if (datum.descriptor) {
      innermost = result;
    } else if (innermost != kNone && datum.segments == kNone &&
               data[innermost].total == datum.length && (single || data[innermost].length != 1)) {
      datum.segments = innermost;
    }
  }
}

void DataFlow::find_segments(bool single) {
  divide_results(single);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Operation& operation : operations) {
      if (!vcode::info(operation.op).is_vector_op()) continue;
      changed = Rules(*this, operation, single).apply() || changed;
    }
  }
}

/// Vectors of the elements of one apply-to-each are not divided.
void DataFlow::lower_levels() {
  const auto divided = [&](std::size_t datum) { return data[datum].segments != kNone; };
  for (Operation& operation : operations) {
    const bool descriptor = data[operation.out.front()].descriptor;
    const std::vector<std::size_t>& shown = descriptor ? operation.in : operation.out;
    if (std::none_of(shown.begin(), shown.end(), divided)) {
      operation.level = std::min<std::size_t>(operation.level, 1);
    }
  }
}

}  // namespace neslc::graph
