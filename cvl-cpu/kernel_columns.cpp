#include "cvl-cpu/kernel_columns.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_pass_builder.hpp"
#include "cvl-cpu/kernel_regular.hpp"
#include "cvl-cpu/kernel_storage.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;

/// Rows that are worth what a column costs by itself.
constexpr std::int64_t kLeastTile = 512;

class ColumnPlanner {
 public:
  explicit ColumnPlanner(const PlanPass& pass) : pass_(pass), new_(pass.nodes.size(), kNone) {}

  std::optional<ColumnPlan> run() {
    if (pass_.once || pass_.has_scan) return std::nullopt;
    for (const PlanSink& sink : pass_.sinks) {
      if (!is_fold(sink)) return std::nullopt;
    }
    if (plan_.rows.segdes == kNone) return std::nullopt;
    first_ = made_.state(ColumnPlan::FirstRow, Type::Int);
    column_ = made_.state(ColumnPlan::Column, Type::Int);
    length_ = made_.state(ColumnPlan::RowLength, Type::Int);
    row_ = made_.apply(Op::Add, Type::Int, {made_.position(), first_});
    for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
      new_[k] = moved(k);
      if (new_[k] == kNone) return std::nullopt;
    }
    for (const PlanSink& sink : pass_.sinks) add_fold(sink);
    return std::move(plan_);
  }

 private:
  /// Of the rows of the pass, or of all elements, which meet row by row then: FLOATs may not.
  bool is_fold(const PlanSink& sink) {
    if (sink.kind != PlanSink::Kind::Reduce) return false;
    const PlanNode& value = pass_.nodes[sink.values[0]];
    if (value.uniform) return false;
    if (sink.under == kNone) return value.type != Type::Float;
    return plan_.rows.take(sink.under);
  }

  /// A node of the pass as one of a column; kNone if there is none.
  NodeId moved(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    switch (node.kind) {
      case Kind::Constant:
      case Kind::Size:
        return made_.add(node);
      case Kind::Position:
        return position();
      case Kind::Gather:
        return with_arguments(node);
      case Kind::Apply:
        if (plan_.rows.is_number(pass_, number)) return row_;
        if (plan_.rows.is_offset(pass_, number)) return column_;
        return with_arguments(node);
      case Kind::SegmentNumber:
        return node.id == plan_.rows.segdes ? row_ : kNone;
      case Kind::SegmentOffset:
        return node.id == plan_.rows.segdes ? column_ : kNone;
      case Kind::SegmentStart:
        return plan_.rows.describe(pass_, node) ? row_start() : kNone;
      case Kind::SegmentLength:
        return plan_.rows.describe(pass_, node) ? length_ : kNone;
      default:
        // Elements one behind the other are read faster as they lie.
        return kNone;
    }
  }
  NodeId with_arguments(PlanNode node) {
    for (NodeId& arg : node.args) {
      if (arg != kNone) arg = new_[arg];
    }
    if (node.guard != kNone) node.guard = new_[node.guard];
    return made_.add(node);
  }
  NodeId row_start() { return made_.apply(Op::Multiply, Type::Int, {row_, length_}); }
  NodeId position() { return made_.apply(Op::Add, Type::Int, {row_start(), column_}); }
  void add_fold(const PlanSink& sink) {
    const NodeId value = new_[sink.values[0]];
    const Type type = plan_.pass.nodes[value].type;
    ColumnPlan::Fold fold;
    fold.sink = &sink;
    const auto component = ColumnPlan::Totals + static_cast<std::uint32_t>(plan_.folds.size());
    fold.total = made_.state(component, type);
    fold.result = made_.combined(sink.op, type, fold.total, value);
    made_.store(fold.result);
    plan_.folds.push_back(fold);
    plan_.any_order &= type != Type::Float || sink.op == Op::MaxReduce || sink.op == Op::MinReduce;
  }

  const PlanPass& pass_;
  ColumnPlan plan_;
  PassBuilder made_{plan_.pass};
  std::vector<NodeId> new_;
  NodeId first_ = kNone, column_ = kNone, length_ = kNone, row_ = kNone;
};

}  // namespace

std::optional<ColumnPlan> plan_columns(const PlanPass& pass) {
  return ColumnPlanner(pass).run();
}

/// What a thread computes columns with.
class KernelColumns::Worker {
 public:
  Worker(KernelState& state, const ColumnPlan& plan)
      : state_(state), plan_(plan), bound_(state, plan.pass) {
    bound_.uniform_state.resize(ColumnPlan::Totals + plan.folds.size());
    for (std::size_t k = 0; k < ColumnPlan::Totals; ++k) bound_.uniform_state[k] = numbers_[k];
  }

  /// Are there gathers in a column of so many rows?
  bool fetches(std::int64_t rows, std::int64_t row_length) {
    set(ColumnPlan::FirstRow, 0);
    set(ColumnPlan::RowLength, row_length);
    set(ColumnPlan::Column, row_length / 2);
    bound_.bind(rows);
    return bound_.main.element_steps.fetch();
  }

  /// Rows [begin, begin + n), whose totals go to `out[k]`, which holds what they begin with.
  void run(std::int64_t begin, std::int64_t n, std::int64_t row_length,
           const std::vector<std::byte*>& out) {
    set(ColumnPlan::FirstRow, begin);
    set(ColumnPlan::RowLength, row_length);
    std::optional<BlockEvaluator> values;
    std::size_t bytes = 0;
    for (std::int64_t column = 0; column < row_length; ++column) {
      set(ColumnPlan::Column, column);
      const bool again = bind(n, out);
      const std::size_t needed = BlockEvaluator::memory_bytes(bound_, bound_.main, kBlock);
      if (values && again && needed == bytes) {
        values->bind_again();
      } else {
        bytes = needed;
        values.emplace(bound_, bound_.main, kBlock, thread_memory(bytes), nullptr, 0);
      }
      for (std::size_t k = 0; k < out.size(); ++k) {
        values->set_memory(plan_.folds[k].total, out[k]);
      }
      for (std::int64_t i = 0; i < n; i += kBlock) values->run(i, std::min(kBlock, n - i));
    }
  }

 private:
  static constexpr std::int64_t kBlock = LargestTuning::longest_block;

  void set(ColumnPlan::State number, std::int64_t value) {
    std::memcpy(numbers_[number], make_int(state_.cpu.widths(), value).payload, 8);
  }

  bool bind(std::int64_t n, const std::vector<std::byte*>& out) {
    const bool again = bound_.bind(n);
    for (std::size_t k = 0; k < out.size(); ++k) {
      Target target;
      target.node = plan_.folds[k].result;
      target.width = bound_.node(target.node).width;
      target.base = out[k];
      bound_.add_target(bound_.main, target, true);
    }
    renew_native_steps(bound_, bound_.main);
    return again;
  }

  KernelState& state_;
  const ColumnPlan& plan_;
  BoundPass bound_;
  alignas(8) std::byte numbers_[ColumnPlan::Totals][8] = {};
};

KernelColumns::KernelColumns(KernelState& state, ColumnPlan plan)
    : state_(state), plan_(std::move(plan)) {}

KernelColumns::~KernelColumns() = default;

bool KernelColumns::can_run() const {
  const Segdes& rows = state_.segdes[plan_.rows.segdes];
  constexpr std::int64_t kFits = std::numeric_limits<std::int32_t>::max();
  return rows.count >= tuning.least_rows && rows.total <= kFits &&
         plan_.rows.fit(rows.uniform_length) && !state_.faults.any();
}

bool KernelColumns::can_run_rows() const {
  return are_rows(state_.segdes[plan_.rows.segdes]) && can_run();
}

bool KernelColumns::can_run_long() const {
  const Segdes& rows = state_.segdes[plan_.rows.segdes];
  return plan_.any_order && rows.uniform && rows.uniform_length > 0 && can_run();
}

bool KernelColumns::fetches() {
  std::unique_ptr<Worker> worker = take();
  const bool found = worker->fetches(state_.segdes[plan_.rows.segdes].count, row_length());
  state_.faults.clear();  // of an index that is the same for all
  put_back(std::move(worker));
  return found;
}

bool KernelColumns::run() {
  const Segdes& rows = state_.segdes[plan_.rows.segdes];
  CpuBackend& cpu = state_.cpu;
  std::vector<Vector> results;
  std::vector<std::byte*> out;
  for (const ColumnPlan::Fold& fold : plan_.folds) {
    state_.arrays[fold.sink->arrays[0]] = Vector();
    results.push_back(cpu.new_vector(plan_.pass.nodes[fold.result].type, rows.count));
  }
  for (Vector& result : results) out.push_back(checked_storage(cpu, result, 0, rows.count));
  // Few enough for the cache, and several times as many tiles as threads where there are many rows.
  const std::int64_t share = tile_count(rows.count, 4 * cpu.scheduler().threads());
  const std::int64_t tile =
      std::min(tuning.rows_tile, std::max(tile_count(share, 64) * 64, kLeastTile));
  const auto nodes = static_cast<std::int64_t>(plan_.pass.nodes.size());
  auto body = [&](std::int64_t k) {
    run_rows(k * tile, std::min((k + 1) * tile, rows.count), out);
  };
  cpu.scheduler().for_tiles(tile_count(rows.count, tile),
                            rows.total * nodes * tuning.native_step_cost, body);
  if (state_.faults.any()) {
    state_.faults.clear();  // the pass itself says what fails first
    return false;
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const PlanSink& sink = *plan_.folds[k].sink;
    Vector& result = state_.arrays[sink.arrays[0]];
    result = sink.under == kNone ? reduced(sink.op, results[k]) : std::move(results[k]);
  }
  return true;
}

Vector KernelColumns::reduced(vcode::Op op, const Vector& totals) const {
  Value operands[] = {totals, Segdes::single(totals.length)};
  Value result;
  state_.cpu.execute(op, totals.type, operands, &result);
  return std::move(result.vector());
}

void KernelColumns::run_rows(std::int64_t begin, std::int64_t end, std::vector<std::byte*> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Type type = plan_.pass.nodes[plan_.folds[k].result].type;
    const auto op = static_cast<std::size_t>(plan_.folds[k].sink->op);
    out[k] += begin * static_cast<std::int64_t>(state_.cpu.element_bytes(type));
    state_.cpu.kernels().fill[type_index(type)](
        out[k], state_.cpu.kernels().reduce[op][type_index(type)].start, end - begin);
  }
  std::unique_ptr<Worker> worker = take();
  worker->run(begin, end - begin, state_.segdes[plan_.rows.segdes].uniform_length, out);
  put_back(std::move(worker));
}

void KernelColumns::put_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

std::unique_ptr<KernelColumns::Worker> KernelColumns::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Worker>(state_, plan_);
  std::unique_ptr<Worker> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

}  // namespace cvl::cpu
