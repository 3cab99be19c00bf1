#include "cvl-cpu/kernel_interleave.hpp"

#include <algorithm>
#include <utility>

#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_pass_builder.hpp"
#include "cvl-cpu/kernel_regular.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;

/// What each column computes is evaluated side by side: no more than this.
constexpr std::size_t kMostNodes = 64;

class InterleavePlanner {
 public:
  explicit InterleavePlanner(const PlanPass& pass)
      : pass_(pass), new_(pass.nodes.size(), kNone), by_column_(pass.nodes.size()) {}

  std::optional<InterleavePlan> run() {
    if (pass_.once || pass_.has_scan || pass_.nodes.size() > kMostNodes || !finds_rows()) {
      return std::nullopt;
    }
    row_ = made_.position();
    for (const PlanSink& sink : pass_.sinks) {
      const bool stores = sink.kind == PlanSink::Kind::Store && !is_uniform(sink.values[0]);
      if (!stores && !is_part(sink)) return std::nullopt;
      plan_.results.push_back({&sink, {}, stores ? kNone : start_of(sink.index)});
    }
    for (std::int64_t column = 0; column < plan_.row_length; ++column) add_column(column);
    return fits_ ? std::optional(std::move(plan_)) : std::nullopt;
  }

 private:
  bool finds_rows() {
    for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
      const std::int64_t length = row_length_of_offset(pass_, k);
      if (length != 0) plan_.row_length = length;
    }
    return plan_.row_length > 1 && plan_.row_length <= kMostInterleaved;
  }

  bool is_uniform(NodeId node) const { return pass_.nodes[node].uniform; }
  bool is_offset(NodeId node) const {
    return row_length_of_offset(pass_, node) == plan_.row_length;
  }

  /// Does a scatter put rows, as they are, into others?
  bool is_part(const PlanSink& sink) const {
    const bool moves_rows = sink.kind == PlanSink::Kind::Scatter && sink.into != kNone &&
                            sink.flag == kNone && sink.values.size() == 1;
    return moves_rows && (is_offset(sink.index) || uniform_summand(sink.index) != kNone);
  }
  /// Of a sum with the place in the row.
  NodeId uniform_summand(NodeId number) const {
    const PlanNode& sum = pass_.nodes[number];
    if (!sum.applies(Op::Add)) return kNone;
    for (const int k : {0, 1}) {
      if (is_uniform(sum.args[k]) && is_offset(sum.args[1 - k])) return sum.args[k];
    }
    return kNone;
  }
  NodeId start_of(NodeId index) {
    return is_offset(index) ? made_.number(0) : moved(uniform_summand(index));
  }

  void add_column(std::int64_t column) {
    for (NodeId k = 0; k < new_.size(); ++k) {
      if (by_column_[k]) new_[k] = kNone;
    }
    column_ = made_.number(column);
    for (InterleavePlan::Result& result : plan_.results) {
      result.columns.push_back(moved(result.sink->values[0]));
      made_.store(result.columns.back());
    }
  }

  /// A node of the pass as one of the column.
  NodeId moved(NodeId k) {
    if (new_[k] == kNone) new_[k] = made(k);
    return new_[k];
  }

  NodeId made(NodeId k) {
    const PlanNode& node = pass_.nodes[k];
    if (row_length_of_number(pass_, k) == plan_.row_length) return row_;
    if (is_offset(k)) return of_column(k, column_);
    switch (node.kind) {
      case Kind::Constant:
      case Kind::Size:
        return made_.add(node);
      case Kind::Position: {
        const NodeId start =
            made_.apply(Op::Multiply, Type::Int, {row_, made_.number(plan_.row_length)});
        return of_column(k, made_.apply(Op::Add, Type::Int, {start, column_}));
      }
      case Kind::Gather:
      case Kind::Apply:
        return with_arguments(k);
      default:
        fits_ = false;
        return row_;
    }
  }

  NodeId of_column(NodeId k, NodeId made) {
    by_column_[k] = true;
    return made;
  }

  NodeId with_arguments(NodeId k) {
    PlanNode node = pass_.nodes[k];
    const auto move = [&](NodeId& operand) {
      if (operand == kNone) return;
      const NodeId old = operand;
      operand = moved(old);
      by_column_[k] = by_column_[k] || by_column_[old];
    };
    for (NodeId& arg : node.args) move(arg);
    move(node.guard);
    return made_.add(node);
  }

  const PlanPass& pass_;
  InterleavePlan plan_;
  PassBuilder made_{plan_.pass};
  std::vector<NodeId> new_;
  std::vector<bool> by_column_;  // does a node depend on the place in the row?
  NodeId row_ = kNone, column_ = kNone;
  bool fits_ = true;
};

}  // namespace

std::optional<InterleavePlan> plan_interleave(const PlanPass& pass) {
  return InterleavePlanner(pass).run();
}

KernelInterleave::KernelInterleave(KernelState& state, InterleavePlan plan)
    : state_(state), plan_(std::move(plan)) {}

bool KernelInterleave::run(std::int64_t length) {
  const std::int64_t rows = length / plan_.row_length;
  if (rows * plan_.row_length != length || rows < tuning.least_rows || !bind(rows)) return false;
  CpuBackend& cpu = state_.cpu;
  std::vector<Vector> results(plan_.results.size());
  std::vector<Place> out;
  for (std::size_t k = 0; k < results.size(); ++k) {
    out.push_back(place_of(plan_.results[k], results[k]));
  }
  const std::int64_t tile = std::max<std::int64_t>(tuning.map_tile / plan_.row_length, 1);
  const auto nodes = static_cast<std::int64_t>(plan_.pass.nodes.size());
  auto body = [&](std::int64_t k) { run_rows(k * tile, std::min((k + 1) * tile, rows), out); };
  cpu.scheduler().for_tiles(tile_count(rows, tile), rows * nodes * tuning.native_step_cost, body);
  if (state_.faults.any()) {
    state_.faults.clear();  // the pass itself says what fails first
    return false;
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const InterleavePlan::Result& result = plan_.results[k];
    if (!has_defaults(result)) state_.arrays[result.sink->arrays[0]] = std::move(results[k]);
  }
  return true;
}

/// Results that fit bytes are left to the pass, which stores them so.
bool KernelInterleave::bind(std::int64_t rows) {
  if (state_.faults.any()) return false;
  if (!bound_) bound_.emplace(state_, plan_.pass);
  bound_->bind(rows);
  if (state_.faults.any()) {
    state_.faults.clear();
    return false;
  }
  for (const InterleavePlan::Result& result : plan_.results) {
    const bool fits_bytes = std::all_of(result.columns.begin(), result.columns.end(),
                                        [&](NodeId column) { return bound_->joins_bytes(column); });
    if (fits_bytes || (result.start != kNone && !start_of(result))) return false;
  }
  renew_native_steps(*bound_, bound_->main);
  return true;
}

/// In rows that are all as long; nothing if they are not, or the columns do not lie in them.
std::optional<std::int64_t> KernelInterleave::start_of(const InterleavePlan::Result& result) const {
  const PlanSink& sink = *result.sink;
  const Segdes& from = state_.segdes[sink.under];
  const Segdes& into = state_.segdes[sink.into];
  const bool rows = from.uniform && into.uniform && from.count == bound_->length() &&
                    into.count == from.count && from.uniform_length == plan_.row_length;
  const std::int64_t start = bound_->int_at(bound_->node(result.start).cell, 0);
  const bool inside = start >= 0 && start <= into.uniform_length - plan_.row_length;
  const bool stored = !has_defaults(result) || state_.arrays[sink.arrays[0]].form == Form::Dense;
  return rows && inside && stored ? std::optional(start) : std::nullopt;
}

KernelInterleave::Place KernelInterleave::place_of(const InterleavePlan::Result& result,
                                                   Vector& vector) const {
  CpuBackend& cpu = state_.cpu;
  const PlanSink& sink = *result.sink;
  const Type type = plan_.pass.nodes[result.columns[0]].type;
  if (result.start == kNone) {
    vector = cpu.new_vector(type, bound_->length() * plan_.row_length);
    return {checked_storage(cpu, vector, 0, vector.length), plan_.row_length};
  }
  const Segdes& into = state_.segdes[sink.into];
  const auto width = static_cast<std::int64_t>(cpu.element_bytes(type));
  const bool has_target = has_defaults(result);
  if (!has_target) {
    vector = cpu.new_vector(type, into.total);
    zero_parallel(cpu, mutable_elements<void>(vector), into.total * width);
  }
  Vector& target = has_target ? state_.arrays[sink.arrays[0]] : vector;
  return {checked_storage(cpu, target, 0, into.total) + *start_of(result) * width,
          into.uniform_length};
}

void KernelInterleave::run_rows(std::int64_t begin, std::int64_t end,
                                const std::vector<Place>& out) const {
  constexpr std::int64_t kBlock = LargestTuning::longest_block;
  constexpr std::int64_t kColumnBytes = kBlock * 8;
  CpuBackend& cpu = state_.cpu;
  const std::int64_t columns = plan_.row_length;
  // Beside the values: columns that are the same everywhere, and rows that are yet to be streamed.
  std::byte* const same =
      thread_memory(static_cast<std::size_t>(2 * columns * kColumnBytes) +
                    BlockEvaluator::memory_bytes(*bound_, bound_->main, kBlock));
  std::byte* const rows = same + columns * kColumnBytes;
  BlockEvaluator values(*bound_, bound_->main, kBlock, rows + columns * kColumnBytes, nullptr, 0);
  for (std::int64_t first = begin; first < end; first += kBlock) {
    const std::int64_t n = std::min(kBlock, end - first);
    values.run(first, n);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::vector<NodeId>& nodes = plan_.results[k].columns;
      const Type type = plan_.pass.nodes[nodes[0]].type;
      const std::byte* from[kMostInterleaved];
      for (std::size_t column = 0; column < nodes.size(); ++column) {
        from[column] = values.at(nodes[column]);
        if (!bound_->is_uniform(nodes[column])) continue;
        std::byte* const filled = same + static_cast<std::int64_t>(column) * kColumnBytes;
        cpu.kernels().fill[type_index(type)](filled, from[column], n);
        from[column] = filled;
      }
      const std::int64_t distance = out[k].distance;
      const std::int64_t row_bytes = distance * static_cast<std::int64_t>(cpu.element_bytes(type));
      std::byte* const to = out[k].first + first * row_bytes;
      const bool streamed = distance == columns && cpu.streams(bound_->length() * row_bytes);
      cpu.kernels().interleave[type_index(type)](streamed ? rows : to, from, columns, distance, n);
      if (streamed) cpu.kernels().stream(to, rows, n * row_bytes);
    }
  }
}

}  // namespace cvl::cpu
