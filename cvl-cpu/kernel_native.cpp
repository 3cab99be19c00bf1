#include "cvl-cpu/kernel_native.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cvl-cpu/native_simplify.hpp"
#include "vcode/math_functions.hpp"

namespace cvl::cpu {
namespace {

using StepKind = BoundStep::Kind;

/// A group that computes less than this is no faster than its steps.
constexpr std::int64_t kLeastOperations = 2;

/// Registers of lanes do not pay for so few states.
constexpr std::int64_t kFewStates = 4;

bool is_applied(const BoundStep& step) {
  return step.kind == StepKind::Apply;
}

/// Calls visit(node) for what a step reads.
template <class Visit>
void for_operands(const BoundStep& step, const Visit& visit) {
  if (step.kind != StepKind::GatherRuns && step.kind != StepKind::JoinedRuns) {
    for (const NodeId arg : step.args) {
      if (arg != kNone) visit(arg);
    }
  }
  if (step.guard != kNone) visit(step.guard);
}

/// Calls visit(node) for what a step computes.
template <class Visit>
void for_results(const BoundSteps& steps, const BoundStep& step, const Visit& visit) {
  if (step.kind != StepKind::Walk) {
    visit(step.node);
    return;
  }
  for (std::uint32_t k = step.first; k < step.last; ++k) visit(steps.walked[k].node);
}

GatheredForm gathered_form(const BoundStep& step) {
  if (step.kind != StepKind::Gather) return GatheredForm::None;
  if (step.vector->form == Form::Narrow) return GatheredForm::Bytes;
  if (step.vector->form == Form::Constant) return GatheredForm::Same;
  if (step.vector->form == Form::Progression) return GatheredForm::Counted;
  return step.vector->type == Type::Bool ? GatheredForm::Bytes : GatheredForm::Whole;
}

/// Steps that are run one after the other, or as one loop.
struct Part {
  std::vector<BoundStep> steps;
  bool native = false;
};

class NativeMaker {
 public:
  NativeMaker(const BoundPass& pass, const BoundProgram& program)
      : pass_(pass),
        plan_(pass.plan()),
        cpu_(pass.state().cpu),
        program_(program),
        steps_(program.usual()),
        read_last_(plan_.nodes.size(), 0),
        same_in_segment_(plan_.nodes.size()) {}

  void make(NativeSteps& result) {
    divide();
    if (std::none_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.native; })) {
      return;
    }
    find_readers();
    result.slots = assign_slots(result.steps);
    for (std::uint32_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      if (part.native && !add_code(k, result)) {
        result.steps = {};
        result.code.clear();
        return;
      }
      result.steps.steps.insert(result.steps.steps.end(), part.steps.begin(), part.steps.end());
    }
  }

  /// The loop around the steps; null when some of them have to be steps.
  std::unique_ptr<NativeCode> make_rounds(const PlanLoop& loop, NativeSteps::Form form,
                                          bool plain = false) {
    const bool serial = form == NativeSteps::Form::SerialRounds;
    const PlanSink& step = loop.step();
    const RoundPlaces places = round_places(loop);
    NativeRounds rounds;
    rounds.serial = serial;
    rounds.plain = plain;
    value_of_.assign(plan_.nodes.size(), kNone);
    for (const BoundStep& bound : steps_.steps) {
      if (bound.kind == StepKind::Gather && can_gather(bound, serial)) {
        add_gather(rounds.body, bound, places, serial);
      } else if (is_read_or_zero(rounds.body, bound)) {
        value_of_[bound.node] = value(rounds.body, bound.args[1]);
      } else if (bound.kind != StepKind::Progression && has_native_form(bound, serial)) {
        add_step(rounds.body, bound);
      } else {
        return nullptr;
      }
    }
    rounds.flag = value(rounds.body, step.flag);
    rounds.flag_place = places.flags();
    for (std::uint32_t k = 0; k < places.components; ++k) {
      if (loop.keeps(k)) continue;
      rounds.changes.push_back({kNone, value(rounds.body, step.values[k]), places.next(k)});
    }
    if (loop.has_stack()) {
      StackChange& stack = rounds.stack.emplace();
      stack.push = value(rounds.body, loop.push());
      stack.pop = value(rounds.body, loop.pop());
      for (std::size_t k = 0; k < loop.frame(); ++k) {
        stack.pushed.push_back(value(rounds.body, loop.pushed(k)));
      }
      stack.place = places.stack();
    }
    for (std::uint32_t k = 0; k < loop.writes.size(); ++k) {
      const NodeId* const written = loop.written(k);
      TableChange write;
      write.flag = value(rounds.body, written[0]);
      write.index = value(rounds.body, written[1]);
      write.element = value(rounds.body, written[2]);
      const PlanLoop::Table& table = loop.tables[loop.writes[k]];
      write.length =
          length_of(rounds.body, table.operand, places.table_length(loop.writes[k]), serial);
      write.place = places.table(loop.writes[k]);
      rounds.writes.push_back(write);
    }
    // What is read is known by its node so far.
    std::vector<std::uint32_t> states(places.components, kNone);
    for (std::uint32_t k = 0; k < rounds.body.values.size(); ++k) {
      NativeLoop::Value& read = rounds.body.values[k];
      // Lengths of vectors, which are no nodes, have their places.
      if (read.kind == NativeLoop::Value::Kind::Uniform && read.place < places.nodes) {
        read.place = places.node(read.place);
      }
      if (read.kind != NativeLoop::Value::Kind::Read) continue;
      const PlanNode& node = plan_.nodes[read.place];
      if (node.kind != PlanNode::Kind::State) return nullptr;
      read.place = places.now(node.id);
      states[node.id] = k;
    }
    for (NativeRounds::Change& change : rounds.changes) {
      const std::uint32_t component = change.place - places.next(0);
      if (states[component] == kNone) {
        NativeLoop::Value read;
        read.kind = NativeLoop::Value::Kind::Read;
        read.type = rounds.body.values[change.next].type;
        read.place = places.now(component);
        states[component] = static_cast<std::uint32_t>(rounds.body.values.size());
        rounds.body.values.push_back(read);
      }
      change.state = states[component];
    }
    if (loop.has_stack()) {
      rounds.stack->popped.assign(states.begin(),
                                  states.begin() + static_cast<std::ptrdiff_t>(loop.frame()));
    }
    if (!serial) {
      simplify(rounds, cpu_.isa(), cpu_.widths());
      find_shared(rounds, places);
    }
    return NativeCode::make(rounds, cpu_.isa(), cpu_.widths());
  }

  /// What is wanted of pieces of segments; null when some steps have to be steps.
  std::unique_ptr<NativeCode> make_pieces(const PieceResults& wanted, PiecePlaces& places) {
    const auto type = [&](NodeId node) { return plan_.nodes[node].type; };
    for (const NodeFold& fold : wanted.numbers) {
      const Type first = type(wanted.numbers.front().node);
      const bool as_wide = cpu_.element_bytes(type(fold.node)) == cpu_.element_bytes(first);
      if (!has_native_fold(cpu_.isa(), cpu_.widths(), fold.op, type(fold.node)) ||
          !(as_wide || wanted.side_by_side)) {
        return nullptr;
      }
    }
    for (const NodeId node : wanted.stored) {
      if (!has_native_result(cpu_.isa(), type(node))) return nullptr;
    }
    NativePieces pieces;
    pieces.side_by_side = wanted.side_by_side;
    value_of_.assign(plan_.nodes.size(), kNone);
    for (const WalkedNode& walked : steps_.walked) {
      if (walked.kind == PlanNode::Kind::SegmentOffset) {
        add_counted(pieces.body, walked.node, 1);
      } else {
        same_in_segment_[walked.node] = true;
      }
    }
    for (const BoundStep& step : steps_.steps) {
      if (step.kind == StepKind::Walk) continue;
      if (step.kind == StepKind::GatherRuns || step.kind == StepKind::JoinedRuns) {
        if (!program_.runs[step.runs].backwards) continue;
        if (wanted.side_by_side || !has_native_backwards(cpu_.isa(), type(step.node))) {
          return nullptr;
        }
        pieces.body.values[value(pieces.body, step.node)].backwards = true;
        continue;
      }
      if (!has_native_form(step)) return nullptr;
      if (step.kind == StepKind::Progression) {
        if (wanted.side_by_side) return nullptr;
        add_counted(pieces.body, step.node, step.stride);
      } else {
        add_step(pieces.body, step);
      }
    }
    places = {std::vector<std::uint32_t>(plan_.nodes.size(), kNone), {}, 1};
    const auto add_result = [&](NodeId node) {
      places.results.push_back(places.words++);
      return NativeLoop::Result{value(pieces.body, node), places.results.back()};
    };
    for (const NodeFold& fold : wanted.numbers) {
      pieces.folds.push_back({fold.op, add_result(fold.node)});
    }
    for (const NodeId node : wanted.flags) pieces.disjunctions.push_back(add_result(node));
    for (const NodeId node : wanted.stored) pieces.body.results.push_back(add_result(node));
    for (NativeLoop::Value& read : pieces.body.values) {
      if (read.kind == NativeLoop::Value::Kind::Apply) continue;
      const NodeId node = read.place;  // which is how it has been known so far
      if (wanted.side_by_side && same_in_segment_[node]) {
        read.kind = NativeLoop::Value::Kind::Read;
        read.of_row = true;
      }
      read.place = places.nodes[node] = places.words++;
    }
    pieces.words = places.words;
    simplify(pieces, cpu_.isa(), cpu_.widths());
    return NativeCode::make(pieces, cpu_.isa(), cpu_.widths());
  }

 private:
  const Target* target(const BoundStep& step) const {
    return step.target == kNone ? nullptr : &program_.targets[step.target];
  }
  bool has_native_form(const BoundStep& step, bool serial = false) const {
    if (step.left_out) return false;
    if (step.kind == StepKind::Copy || step.kind == StepKind::Progression) return true;
    if (!is_applied(step)) return false;
    const PlanNode& node = plan_.nodes[step.node];
    return can_apply(node.op, node.written, serial);
  }
  bool can_apply(vcode::Op op, Type written, bool serial) const {
    return serial ? cpu::has_serial_form(cpu_.isa())
                  : cpu::has_native_form(cpu_.isa(), cpu_.widths(), op, written);
  }
  bool can_gather(const BoundStep& step, bool serial) const {
    return gathered_form(step) != GatheredForm::Counted ||
           can_apply(vcode::Op::Multiply, Type::Int, serial);
  }
  bool may_fail(const BoundStep& step) const {
    return is_applied(step) && divides_ints(plan_.nodes[step.node]);
  }

  /// Puts the steps into parts, in an order in which everything is computed before it is read.
  void divide() {
    std::vector<bool> native(steps_.steps.size()), placed(steps_.steps.size());
    std::vector<bool> pending(plan_.nodes.size());
    for (std::size_t k = 0; k < steps_.steps.size(); ++k) {
      const BoundStep& step = steps_.steps[k];
      native[k] = has_native_form(step);
      for_results(steps_, step, [&](NodeId node) { pending[node] = true; });
    }
    // An index that counts up is at hand whenever a gather wants it.
    for (std::size_t k = 0; k < steps_.steps.size(); ++k) {
      if (steps_.steps[k].kind == StepKind::Progression) {
        native[k] = is_read_by_native_only(steps_.steps[k].node, native);
      }
    }
    // What overwrites an operand comes last.
    std::size_t left = steps_.steps.size();
    const BoundStep* last = nullptr;
    for (std::size_t k = 0; k < steps_.steps.size(); ++k) {
      const Target* written = target(steps_.steps[k]);
      if (written == nullptr || !written->overwrites) continue;
      last = &steps_.steps[k];
      placed[k] = true;
      --left;
    }
    const auto place = [&](std::size_t k, Part& part) {
      part.steps.push_back(steps_.steps[k]);
      for_results(steps_, steps_.steps[k], [&](NodeId node) { pending[node] = false; });
      placed[k] = true;
      --left;
    };
    bool as_loop = false;
    while (left > 0) {
      Part part;
      part.native = as_loop;
      for (std::size_t k = 0; k < steps_.steps.size(); ++k) {
        if (placed[k] || native[k] != as_loop) continue;
        bool ready = true;
        for_operands(steps_.steps[k], [&](NodeId node) { ready &= !pending[node]; });
        if (ready) place(k, part);
      }
      if (!part.steps.empty()) parts_.push_back(std::move(part));
      as_loop = !as_loop;
    }
    if (last != nullptr) place_last(*last);
    for (Part& part : parts_) {
      part.native &=
          std::count_if(part.steps.begin(), part.steps.end(), is_applied) >= kLeastOperations;
    }
  }

  bool is_read_by_native_only(NodeId node, const std::vector<bool>& native) const {
    for (std::size_t k = 0; k < steps_.steps.size(); ++k) {
      bool reads = false;
      for_operands(steps_.steps[k], [&](NodeId operand) { reads |= operand == node; });
      if (reads && !native[k]) return false;
    }
    return true;
  }

  /// A block whose loop has failed is computed once more, from the operands.
  void place_last(const BoundStep& step) {
    const bool joins = !parts_.empty() && parts_.back().native && has_native_form(step) &&
                       !may_fail(step) &&
                       std::none_of(parts_.back().steps.begin(), parts_.back().steps.end(),
                                    [&](const BoundStep& other) { return may_fail(other); });
    if (joins) {
      parts_.back().steps.push_back(step);
    } else {
      parts_.push_back({{step}, false});
    }
  }

  /// Which part reads a node last. Roots are read at the end.
  void find_readers() {
    for (std::uint32_t k = 0; k < parts_.size(); ++k) {
      for (const BoundStep& step : parts_[k].steps) {
        for_results(steps_, step, [&](NodeId node) { read_last_[node] = k; });
        for_operands(step, [&](NodeId node) { read_last_[node] = k; });
      }
    }
    const KernelProgram& program = *program_.program;
    const auto end = static_cast<std::uint32_t>(parts_.size());
    for (const NodeId root : program_.by_runs ? program.run_roots : program.roots) {
      read_last_[root] = end;
    }
  }

  /// Gives nodes slots that nobody needs any more. Those of a group differ from each other and from
  /// all that it reads: a loop writes some elements before it reads the next.
  std::uint32_t assign_slots(BoundSteps& result) {
    std::uint32_t count = 0;
    std::vector<std::uint32_t> free, slot(plan_.nodes.size(), kNone);
    std::vector<std::vector<NodeId>> dying(parts_.size() + 1);
    result.walked = steps_.walked;
    for (std::uint32_t k = 0; k < parts_.size(); ++k) {
      for (BoundStep& step : parts_[k].steps) {
        for_results(steps_, step, [&](NodeId node) {
          if (step.kind != StepKind::Walk && step.slot == kNone) return;
          if (free.empty()) free.push_back(count++);
          slot[node] = free.back();
          free.pop_back();
          dying[read_last_[node]].push_back(node);
        });
        if (step.kind == StepKind::Walk) {
          for (std::uint32_t w = step.first; w < step.last; ++w) {
            result.walked[w].slot = slot[result.walked[w].node];
          }
        } else {
          step.slot = slot[step.node];
        }
      }
      for (const NodeId node : dying[k]) free.push_back(slot[node]);
    }
    return count;
  }

  /// Adds a step with the loop for a part. False when there cannot be one.
  bool add_code(std::uint32_t number, NativeSteps& result) {
    const std::vector<BoundStep>& steps = parts_[number].steps;
    NativeLoop loop;
    value_of_.assign(plan_.nodes.size(), kNone);
    for (const BoundStep& step : steps) {
      add_step(loop, step);
      if (read_last_[step.node] > number || step.target != kNone) {
        loop.results.push_back({value_of_[step.node], step.node});
      }
    }
    simplify(loop, cpu_.isa(), cpu_.widths());
    auto code = NativeCode::make(loop, cpu_.isa(), cpu_.widths());
    if (code == nullptr) return false;
    BoundStep native;
    native.kind = StepKind::Native;
    native.code = code.get();
    native.covered = static_cast<std::uint32_t>(steps.size());
    result.steps.steps.push_back(native);
    result.code.push_back(std::move(code));
    return true;
  }

  /// What begins as one value for all, and becomes what is computed of such values, remains one as
  /// long as all go on.
  void find_shared(NativeRounds& rounds, const RoundPlaces& places) const {
    using Value = NativeLoop::Value;
    const std::vector<Value>& values = rounds.body.values;
    std::vector<bool> remains = pass_.begins_uniform;  // per component
    std::vector<bool>& shared = rounds.shared;
    const auto find = [&] {
      shared.assign(values.size(), false);
      for (std::uint32_t k = 0; k < values.size(); ++k) {
        const Value& value = values[k];
        const auto is_shared = [&](std::uint32_t operand) {
          return operand == NativeLoop::kNone || shared[operand] ||
                 values[operand].kind == Value::Kind::Uniform;
        };
        if (value.kind == Value::Kind::Read) {
          shared[k] = remains[value.place - places.now(0)];
        } else if (value.kind != Value::Kind::Uniform) {
          shared[k] = std::all_of(std::begin(value.args), std::end(value.args), is_shared) &&
                      is_shared(value.guard);
        }
      }
    };
    for (bool again = true; again;) {
      find();
      again = false;
      for (const NativeRounds::Change& change : rounds.changes) {
        const std::uint32_t component = values[change.state].place - places.now(0);
        const bool next = shared[change.next] || values[change.next].kind == Value::Kind::Uniform;
        if (!remains[component] || next) continue;
        remains[component] = false;
        again = true;
      }
    }
    if (!shared[rounds.flag]) shared.assign(values.size(), false);
  }

  /// Is it the element of a vector where the index is inside, and else 0? In the body of a loop
  /// elements are read in choices only, whose condition that is.
  bool is_read_or_zero(const NativeLoop& loop, const BoundStep& step) const {
    if (!is_applied(step) || !plan_.nodes[step.node].applies(vcode::Op::Select)) return false;
    const PlanNode& otherwise = plan_.nodes[step.args[2]];
    const std::uint32_t read = value_of_[step.args[1]];
    return read != kNone && loop.values[read].kind == NativeLoop::Value::Kind::Gather &&
           otherwise.kind == PlanNode::Kind::Constant && otherwise.int_value == 0 &&
           otherwise.float_value == 0 && !std::signbit(otherwise.float_value);
  }

  static std::uint32_t add_uniform(NativeLoop& loop, Type type, std::uint32_t place) {
    NativeLoop::Value uniform;
    uniform.kind = NativeLoop::Value::Kind::Uniform;
    uniform.type = type;
    uniform.place = place;
    loop.values.push_back(uniform);
    return static_cast<std::uint32_t>(loop.values.size() - 1);
  }

  /// How many elements an array has. In serial rounds it is the value that they ask for
  /// themselves, if any, so that it is asked once whether an index is inside; else that at `place`.
  std::uint32_t length_of(NativeLoop& loop, vcode::ArrayId array, std::uint32_t place,
                          bool serial) {
    const KernelPlan& plan = pass_.state().plan;
    const vcode::SizeId length = plan.canonical_size[plan.kernel->arrays[array].length];
    for (NodeId node = 0; serial && node < plan_.nodes.size(); ++node) {
      const PlanNode& size = plan_.nodes[node];
      if (size.kind == PlanNode::Kind::Size && plan.canonical_size[size.id] == length) {
        return value(loop, node);
      }
    }
    const std::uint32_t result = add_uniform(loop, Type::Int, place);
    loop.values[result].is_size = true;
    return result;
  }

  /// What is not in memory is computed for places outside of the vector, too, where nobody wants
  /// it.
  void add_gather(NativeLoop& loop, const BoundStep& step, const RoundPlaces& places, bool serial) {
    using Value = NativeLoop::Value;
    const auto add = [&](const Value& added) {
      loop.values.push_back(added);
      return static_cast<std::uint32_t>(loop.values.size() - 1);
    };
    const auto uniform = [&](Type type, std::uint32_t place) {
      return add_uniform(loop, type, place);
    };
    const auto apply = [&](vcode::Op op, std::uint32_t first, std::uint32_t second) {
      Value applied;
      applied.op = op;
      applied.args[0] = first;
      applied.args[1] = second;
      return add(applied);
    };
    const Type type = plan_.nodes[step.node].type;
    const GatheredForm form = gathered_form(step);
    if (form == GatheredForm::Same) {
      value_of_[step.node] = uniform(type, step.node);
      return;
    }
    const std::uint32_t index = value(loop, step.args[0]);
    if (form == GatheredForm::Counted) {
      const std::uint32_t start = uniform(Type::Int, step.node);
      const std::uint32_t stride = uniform(Type::Int, places.length(step.node));
      value_of_[step.node] =
          apply(vcode::Op::Add, start, apply(vcode::Op::Multiply, index, stride));
      return;
    }
    Value gathered;
    gathered.kind = Value::Kind::Gather;
    gathered.type = type;
    gathered.args[0] = index;
    const vcode::ArrayId array = plan_.nodes[step.node].id;
    gathered.args[1] = length_of(loop, array, places.length(step.node), serial);
    gathered.bytes = form == GatheredForm::Bytes;
    gathered.place = places.node(step.node);
    value_of_[step.node] = add(gathered);
  }

  void add_step(NativeLoop& loop, const BoundStep& step) {
    if (step.kind == StepKind::Copy) {
      value_of_[step.node] = value(loop, step.args[0]);
      return;
    }
    NativeLoop::Value added;
    const PlanNode& node = plan_.nodes[step.node];
    added.type = node.type;
    if (step.kind == StepKind::Progression) {
      added.kind = NativeLoop::Value::Kind::Progression;
      added.start = step.start;
      added.stride = step.stride;
    } else {
      added.written = node.written;
      added.op = node.op;
      if (vcode::is_math_function(node.op)) added.math = step.kernel;
      const std::size_t count = vcode::info(node.op).operands.size();
      for (std::size_t k = 0; k < count; ++k) added.args[k] = value(loop, step.args[k]);
      if (step.guard != kNone && may_fail(step)) added.guard = value(loop, step.guard);
    }
    value_of_[step.node] = static_cast<std::uint32_t>(loop.values.size());
    loop.values.push_back(added);
  }

  void add_counted(NativeLoop& loop, NodeId node, std::int64_t stride) {
    NativeLoop::Value added;
    added.kind = NativeLoop::Value::Kind::Progression;
    added.type = plan_.nodes[node].type;
    added.place = node;
    added.stride = stride;
    value_of_[node] = static_cast<std::uint32_t>(loop.values.size());
    loop.values.push_back(added);
  }

  /// The number of a node's value in a loop, which reads it where it does not compute it.
  std::uint32_t value(NativeLoop& loop, NodeId node) {
    std::uint32_t& number = value_of_[node];
    if (number == kNone) {
      NativeLoop::Value read;
      const bool once = pass_.is_uniform(node) || same_in_segment_[node];
      read.kind = once ? NativeLoop::Value::Kind::Uniform : NativeLoop::Value::Kind::Read;
      const PlanNode& known = plan_.nodes[node];
      read.type = known.type;
      read.place = node;
      if (known.kind == PlanNode::Kind::Constant && known.type != Type::Float) {
        read.number = known.int_value;
      }
      read.is_size = known.kind == PlanNode::Kind::Size;
      number = static_cast<std::uint32_t>(loop.values.size());
      loop.values.push_back(read);
    }
    return number;
  }

  const BoundPass& pass_;
  const PlanPass& plan_;
  CpuBackend& cpu_;
  const BoundProgram& program_;
  const BoundSteps& steps_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> read_last_;  // per node: by which part
  std::vector<std::uint32_t> value_of_;   // per node: its value in the loop
  std::vector<bool> same_in_segment_;     // per node: is it read once for a segment?
};

/// What code is made for: how a step of usual() is run this time.
NativeSteps::Use use_of(const BoundProgram& program, const BoundStep& step,
                        NativeSteps::Form form) {
  const bool overwrites = step.target != kNone && program.targets[step.target].overwrites;
  return {step.target, overwrites, step.left_out,
          form == NativeSteps::Form::Steps ? GatheredForm::None : gathered_form(step)};
}

bool is_made_for(const NativeSteps& native, const BoundPass& pass, const BoundProgram& program,
                 NativeSteps::Form form) {
  const std::vector<BoundStep>& steps = program.usual().steps;
  // What is made for many states does for few as well, which come and go.
  const bool serves = native.form == form || (native.form == NativeSteps::Form::Rounds &&
                                              form == NativeSteps::Form::SerialRounds);
  return serves && native.by_runs == program.by_runs &&
         native.begins_uniform == pass.begins_uniform &&
         std::equal(steps.begin(), steps.end(), native.uses.begin(), native.uses.end(),
                    [&](const BoundStep& step, const NativeSteps::Use& use) {
                      return use_of(program, step, form) == use;
                    });
}

/// Remembers how the steps are run that code is made for.
void note_made(const BoundPass& pass, BoundProgram& program, NativeSteps::Form form) {
  NativeSteps& native = program.native;
  native.made = true;
  native.form = form;
  native.begins_uniform = pass.begins_uniform;
  native.by_runs = program.by_runs;
  for (const BoundStep& step : program.usual().steps) {
    native.uses.push_back(use_of(program, step, form));
  }
}

/// Counts a run of the pass. True when so much has been computed that code pays.
bool pays(const BoundPass& pass, BoundProgram& program) {
  std::int64_t& work = program.native.work;
  const auto steps = static_cast<std::int64_t>(program.usual().steps.size());
  if (steps > 0 && (tuning.native_pays_after - work) / steps <= pass.length()) return true;
  work += steps * pass.length();
  return false;
}

/// Counts a run of the pass. True when code for steps is to be made now.
bool is_due(const BoundPass& pass, BoundProgram& program, NativeSteps::Form form) {
  if (!pass.state().cpu.makes_native_code()) return false;
  forget_other_native_steps(pass, program, form);
  if (program.native.made || !pays(pass, program)) return false;
  note_made(pass, program, form);
  return true;
}

NativeSteps::Form form_of(const PlanLoop& loop, std::int64_t states) {
  return loop.is_serial() || states <= kFewStates ? NativeSteps::Form::SerialRounds
                                                  : NativeSteps::Form::Rounds;
}

}  // namespace

void renew_native_steps(const BoundPass& pass, BoundProgram& program) {
  if (is_due(pass, program, NativeSteps::Form::Steps))
    NativeMaker(pass, program).make(program.native);
}

void forget_other_native_steps(const BoundPass& pass, BoundProgram& program,
                               NativeSteps::Form form) {
  NativeSteps& native = program.native;
  if (native.made && !is_made_for(native, pass, program, form)) native = {};
}

void renew_native_rounds(const BoundPass& pass, BoundProgram& program, const PlanLoop& loop,
                         std::int64_t states) {
  const NativeSteps::Form form = form_of(loop, states);
  if (!is_due(pass, program, form)) return;
  NativeMaker maker(pass, program);
  program.native.rounds = maker.make_rounds(loop, form);
  if (program.native.rounds == nullptr) maker.make(program.native);
}

void make_native_rounds(const BoundPass& pass, BoundProgram& program, const PlanLoop& loop,
                        std::int64_t states) {
  NativeSteps& native = program.native;
  const NativeSteps::Form form = form_of(loop, states);
  if (native.is_plain) {
    native.is_plain = false;
    auto better = NativeMaker(pass, program).make_rounds(loop, form);
    if (better != nullptr) native.plain_rounds = std::exchange(native.rounds, std::move(better));
    return;
  }
  if (native.tried_rounds) return;
  native.tried_rounds = true;
  if (!pass.state().cpu.makes_native_code() || native.made) return;
  const bool plain = loop.is_serial();
  native.rounds = NativeMaker(pass, program).make_rounds(loop, form, plain);
  if (native.rounds == nullptr) return;
  native.is_plain = plain;
  note_made(pass, program, form);
}

bool renew_native_pieces(const BoundPass& pass, BoundProgram& program, const PieceResults& wanted) {
  PieceCode& pieces = program.pieces;
  if (!pass.state().cpu.makes_native_code()) return false;
  const auto is_made = [&] {
    return pieces.made_for == wanted && pieces.by_runs == program.by_runs;
  };
  if (!is_made() && pays(pass, program)) {
    pieces.made_for = wanted;
    pieces.by_runs = program.by_runs;
    pieces.code = NativeMaker(pass, program).make_pieces(wanted, pieces.places);
  }
  return is_made() && pieces.code != nullptr;
}

}  // namespace cvl::cpu
