#include "cvl-cpu/kernel_byte_masks.hpp"

#include <algorithm>

#include "cvl-cpu/narrow.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

/// How often the nodes and sinks of a pass read a node.
std::ptrdiff_t readers(const PlanPass& pass, NodeId node) {
  std::ptrdiff_t count = 0;
  for (const PlanNode& other : pass.nodes) {
    count += std::count(std::begin(other.args), std::end(other.args), node);
    count += other.guard == node;
  }
  for (const PlanSink& sink : pass.sinks) {
    count += std::count(sink.values.begin(), sink.values.end(), node);
    count += (sink.flag == node) + (sink.index == node);
  }
  return count;
}

}  // namespace

bool ByteMasks::open(BoundPass& pass, BoundProgram& program, NodeId flag) {
  pass_ = &pass;
  terms_.clear();
  if (!read(flag)) return false;
  for (const Term& term : terms_) pass.leave_out(program, term.node);
  return true;
}

bool ByteMasks::read(NodeId node) {
  const PlanNode& it = pass_->plan().nodes[node];
  Term term{it.op, node};
  if (!pass_->compares_bytes(node)) {
    if (it.kind != PlanNode::Kind::Apply || it.type != Type::Bool || pass_->is_uniform(node) ||
        (it.op != Op::And && it.op != Op::Or)) {
      return false;
    }
    if (!read(it.args[0])) return false;
    term.first = static_cast<std::uint32_t>(terms_.size() - 1);
    if (!read(it.args[1])) return false;
    term.second = static_cast<std::uint32_t>(terms_.size() - 1);
  }
  terms_.push_back(term);
  return terms_.size() <= kMostTerms && readers(pass_->plan(), node) == 1;
}

void ByteMasks::compute(std::uint64_t* masks, std::int64_t begin, std::int64_t n) const {
  compute(static_cast<std::uint32_t>(terms_.size() - 1), masks, begin, n);
}

void ByteMasks::compute(std::uint32_t number, std::uint64_t* masks, std::int64_t begin,
                        std::int64_t n) const {
  const Term& term = terms_[number];
  if (term.op == Op::And || term.op == Op::Or) {
    const std::int64_t words = tile_count(n, 64);
    compute(term.first, masks, begin, n);
    const auto is_zero = [](std::uint64_t word) { return word == 0; };
    if (term.op == Op::And && std::all_of(masks, masks + words, is_zero)) return;
    std::uint64_t others[LargestTuning::longest_block / 64];
    compute(term.second, others, begin, n);
    for (std::int64_t w = 0; w < words; ++w) {
      masks[w] = term.op == Op::And ? masks[w] & others[w] : masks[w] | others[w];
    }
    return;
  }
  const PlanNode& node = pass_->plan().nodes[term.node];
  const bool number_first = pass_->is_uniform(node.args[0]);
  const NodeId text = node.args[number_first ? 1 : 0];
  const NodeId with = node.args[number_first ? 0 : 1];
  compare_bytes(pass_->state().cpu, term.op, number_first, pass_->int_at(pass_->node(with).cell, 0),
                pass_->node(text).base + begin, masks, n);
}

}  // namespace cvl::cpu
