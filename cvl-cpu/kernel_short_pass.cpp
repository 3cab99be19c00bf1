#include "cvl-cpu/kernel_short_pass.hpp"

#include <algorithm>
#include <utility>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/operations.hpp"
#include "vcode/math_functions.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using SinkKind = PlanSink::Kind;
using vcode::Op;

/// Making code for passes with more nodes takes too long.
constexpr std::size_t kMostNodes = 1024;
constexpr std::size_t kMostStages = 4;

/// Is it whether any, or whether all of some BOOLs are T?
bool reduces_flags(const PlanSink& sink, Type type) {
  return sink.kind == SinkKind::Reduce && sink.under == kNone && type == Type::Bool &&
         (sink.op == Op::OrReduce || sink.op == Op::AndReduce);
}

}  // namespace

/// Divides a pass into stages.
class ShortPass::Planner {
 public:
  explicit Planner(const ShortPass& own) : own_(own), pass_(own.pass_) {
    for (const PlanNode& node : pass_.nodes) {
      std::size_t stage = 0;
      for (const NodeId argument : node.args) {
        if (argument != kNone) stage = std::max(stage, stage_of_[argument]);
      }
      if (node.guard != kNone) stage = std::max(stage, stage_of_[node.guard]);
      stage_of_.push_back(is_operation(node) ? stage + 1 : stage);
    }
  }

  std::size_t stages() const {
    return stage_of_.empty() ? 1 : *std::max_element(stage_of_.begin(), stage_of_.end()) + 1;
  }

  std::vector<Stage> plan() const {
    std::vector<Stage> result;
    for (std::size_t s = 0; s < stages(); ++s) {
      ShortResults wanted;
      std::vector<Operation> operations;
      for (NodeId node = 0; node < pass_.nodes.size(); ++node) {
        const PlanNode& operation = pass_.nodes[node];
        if (!is_operation(operation) || stage_of_[node] != s + 1) continue;
        operations.push_back({node, wanted.columns.size()});
        for (const NodeId argument : operation.args) {
          if (argument != kNone) wanted.columns.push_back({argument, {}});
        }
      }
      std::vector<Taken> taken;
      for (const PlanSink& sink : pass_.sinks) {
        if (stage_of(sink) == s) add(sink, wanted, taken);
      }
      result.push_back({ShortCode(own_.state_, pass_, std::move(wanted)), std::move(operations),
                        std::move(taken)});
    }
    return result;
  }

 private:
  std::size_t stage_of(const PlanSink& sink) const {
    std::size_t stage = 0;
    for (const NodeId number : {sink.flag, sink.index}) {
      if (number != kNone) stage = std::max(stage, stage_of_[number]);
    }
    for (const NodeId value : sink.values) stage = std::max(stage, stage_of_[value]);
    return stage;
  }

  void add(const PlanSink& sink, ShortResults& wanted, std::vector<Taken>& taken) const {
    const Type type = sink.values.empty() ? Type::Bool : pass_.nodes[sink.values[0]].type;
    if (sink.kind == SinkKind::Assert) {
      wanted.asserted.push_back(sink.values[0]);
      return;
    }
    Taken own{&sink, wanted.columns.size(), wanted.flags.size(), false};
    if (reduces_flags(sink, type) || (pass_.once && type == Type::Bool)) {
      own.is_flag = true;
      wanted.flags.push_back(
          {sink.values[0], sink.kind == SinkKind::Reduce && sink.op == Op::AndReduce});
    } else {
      for (const NodeId value : sink.values) wanted.columns.push_back({value, {}});
    }
    if (sink.index != kNone) wanted.columns.push_back({sink.index, {}});
    const bool by_class = sink.kind == SinkKind::Split;
    if (sink.flag != kNone && !by_class) wanted.columns.push_back({sink.flag, {}});
    for (std::int64_t c = 0; c < sink.classes; ++c) wanted.columns.push_back({sink.flag, c});
    if (sink.kind == SinkKind::Segments) wanted.lengths.push_back(sink.values[0]);
    taken.push_back(own);
  }

  const ShortPass& own_;
  const PlanPass& pass_;
  std::vector<std::size_t> stage_of_;  // per node: the first in which it is known
};

ShortPass::ShortPass(KernelState& state, const PlanPass& pass)
    : state_(state), pass_(pass), possible_(is_possible()) {}

bool ShortPass::is_operation(const PlanNode& node) {
  return node.kind == Kind::Scan || (node.kind == Kind::Apply && vcode::is_math_function(node.op));
}

bool ShortPass::can_take(const PlanSink& sink) const {
  const auto can_store = [&](NodeId value) {
    return pass_.once || ShortCode::can_store(state_.cpu, pass_.nodes[value].type);
  };
  const bool can_values = std::all_of(sink.values.begin(), sink.values.end(), can_store);
  constexpr std::int64_t kMostClasses = 4;
  switch (sink.kind) {
    case SinkKind::Assert:
      return true;
    case SinkKind::Filter:
    case SinkKind::Split:
    case SinkKind::Scatter:
      return can_values && (sink.flag == kNone || can_store(sink.flag)) &&
             sink.classes <= kMostClasses;
    case SinkKind::Store:
    case SinkKind::Reduce:
    case SinkKind::Size:
    case SinkKind::Segments:
      return can_values;
    default:
      return false;
  }
}

bool ShortPass::is_possible() const {
  if (!ShortCode::can_be_made(state_.cpu) || pass_.nodes.size() > kMostNodes) return false;
  const auto can_compute = [&](const PlanNode& node) {
    return is_operation(node) || ShortCode::can_compute(state_.cpu, node);
  };
  return std::all_of(pass_.nodes.begin(), pass_.nodes.end(), can_compute) &&
         std::all_of(pass_.sinks.begin(), pass_.sinks.end(),
                     [&](const PlanSink& sink) { return can_take(sink); }) &&
         Planner(*this).stages() <= kMostStages;
}

bool ShortPass::run() {
  if (!possible_ || state_.faults.any()) return false;
  length_ = pass_.once ? 1 : state_.size(pass_.length);
  if (length_ <= 0 || length_ > tuning.short_pass) return false;
  if (stages_.empty()) {
    if (runs_++ < tuning.short_runs) return false;
    stages_ = Planner(*this).plan();
    known_.resize(pass_.nodes.size());
  }
  const bool done =
      std::all_of(stages_.begin(), stages_.end(), [&](Stage& stage) { return run_stage(stage); });
  for (Stage& stage : stages_) {
    stage.code.release();
    for (const Operation& operation : stage.operations) known_[operation.node] = Vector();
  }
  return done;
}

bool ShortPass::run_stage(Stage& stage) {
  if (!stage.code.run(length_, known_)) return false;
  for (const Operation& operation : stage.operations) run_operation(stage, operation);
  return std::all_of(stage.taken.begin(), stage.taken.end(),
                     [&](const Taken& taken) { return take(stage.code, taken); });
}

Segdes ShortPass::segdes(SegdesId under) const {
  return under == kNone ? Segdes::single(length_) : state_.segdes[under];
}

void ShortPass::run_operation(Stage& stage, const Operation& operation) {
  const PlanNode& node = pass_.nodes[operation.node];
  Value operands[3], result;
  std::size_t count = 0;
  for (const NodeId argument : node.args) {
    if (argument == kNone) continue;
    operands[count] = stage.code.column(operation.column + count);
    ++count;
  }
  if (node.kind == Kind::Scan) {
    operands[count] = segdes(node.id);
    run_scan(state_.cpu, node.op, node.type, operands, &result);
  } else {
    run_elementwise(state_.cpu, node.op, node.written, operands, &result);
  }
  known_[operation.node] = state_.cpu.materialized(result.vector());
}

/// False when a size is none, or elements go to where nothing is.
bool ShortPass::take(ShortCode& code, const Taken& taken) {
  const PlanSink& sink = *taken.sink;
  if (taken.is_flag) {
    state_.arrays[sink.arrays[0]] = make_bool(code.flag(taken.flag));
    return true;
  }
  switch (sink.kind) {
    case SinkKind::Size: {
      const std::int64_t size = int_at(state_.cpu, code.column(taken.column), 0);
      if (size < 0) return false;
      state_.sizes[sink.size] = size;
      return true;
    }
    case SinkKind::Reduce: {
      Vector& values = code.column(taken.column);
      const Type type = values.type;
      Value operands[] = {std::move(values), segdes(sink.under)};
      Value result;
      run_reduce(state_.cpu, sink.op, type, operands, &result);
      state_.arrays[sink.arrays[0]] = std::move(result.vector());
      return true;
    }
    case SinkKind::Segments: {
      Value lengths(std::move(code.column(taken.column))), result;
      run_make_segdes(state_.cpu, Op::MakeSegdes, Type::Int, &lengths, &result);
      state_.put(sink.segdes[0], std::move(result.segdes()));
      return true;
    }
    case SinkKind::Filter:
    case SinkKind::Split:
      select(code, taken);
      return true;
    case SinkKind::Scatter:
      return scatter(code, taken);
    default:
      state_.arrays[sink.arrays[0]] = std::move(code.column(taken.column));
      return true;
  }
}

/// Filter, and Split, class by class.
void ShortPass::select(ShortCode& code, const Taken& taken) {
  const PlanSink& sink = *taken.sink;
  const std::size_t count = sink.values.size();
  const bool filters = sink.kind == SinkKind::Filter;
  const std::size_t classes = filters ? 1 : static_cast<std::size_t>(sink.classes);
  for (std::size_t c = 0; c < classes; ++c) {
    const Vector& flags = code.column(taken.column + count + c);
    Segdes kept;
    bool moved = false;
    const auto pack = [&](Vector values) {
      const Type type = values.type;
      Value operands[] = {std::move(values), flags, segdes(sink.under)};
      Value results[2];
      run_pack(state_.cpu, Op::Pack, type, operands, results);
      kept = std::move(results[1].segdes());
      moved = true;
      return std::move(results[0].vector());
    };
    for (std::size_t k = 0; k < count; ++k) {
      const ArrayId array = sink.arrays[c * count + k];
      if (array != kNone) state_.arrays[array] = pack(code.column(taken.column + k));
    }
    if (!moved) pack(flags);
    if (filters) {
      for (const SegdesId id : sink.segdes) state_.put(id, kept);
    } else {
      state_.put(sink.segdes[c], kept);
    }
  }
}

bool ShortPass::scatter(ShortCode& code, const Taken& taken) {
  const PlanSink& sink = *taken.sink;
  CpuBackend& cpu = state_.cpu;
  const std::int64_t targets = state_.size(sink.into_length);
  if (targets > tuning.short_pass) return false;
  const std::size_t count = sink.values.size();
  const Vector* flags = sink.flag == kNone ? nullptr : &code.column(taken.column + count + 1);
  const Segdes into = sink.into == kNone ? Segdes::single(targets) : state_.segdes[sink.into];
  const Segments own(cpu, segdes(sink.under)), target(cpu, into);
  const Locator locator(cpu, code.column(taken.column + count), flags, own, target);
  std::uint64_t positions[LargestTuning::short_pass];
  bool inside = true;
  own.for_blocks(0, length_, [&](const SegmentBlock& block) {
    inside &=
        locator.locate(block, locator.flags(block, nullptr), positions + block.begin, kNowhere);
  });
  if (!inside) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const Vector& values = code.column(taken.column + k);
    Vector& result = state_.arrays[sink.arrays[k]];
    if (sink.zeroed) {
      result = cpu.new_vector(values.type, targets);
      zero_parallel(cpu, mutable_elements<void>(result), targets * cpu.stored_bytes(result));
    } else {
      result = writable(cpu, result);
    }
    cpu.kernels().scatter[type_index(values.type)](mutable_elements<void>(result),
                                                   elements<void>(values), positions, length_, 0,
                                                   kNowhere, false);
  }
  return true;
}

}  // namespace cvl::cpu
