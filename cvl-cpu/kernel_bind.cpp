#include "cvl-cpu/kernel_bind.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/narrow.hpp"
#include "vcode/comparisons.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Mode = BoundNode::Mode;
using vcode::Op;

std::size_t written_index(const PlanNode& node) {
  return vcode::info(node.op).takes_type() ? type_index(node.written) : 0;
}
std::size_t arity(const PlanNode& node) {
  return vcode::info(node.op).operands.size();
}

}  // namespace

BoundPass::BoundPass(KernelState& state, const PlanPass& pass)
    : state_(state),
      pass_(pass),
      nodes_(pass.nodes.size()),
      special_(pass.nodes.size()),
      copied_(pass.nodes.size()),
      fits_bytes_(pass.nodes.size()),
      needed_(pass.nodes.size()),
      caught_(pass.nodes.size()),
      segments_(state.segdes.size()),
      stream_at_(state.plan.draws.size()),
      wide_(state.cpu.element_bytes(Type::Int) == 8) {
  for (NodeId k = 0; k < nodes_.size(); ++k) {
    const PlanNode& node = pass.nodes[k];
    nodes_[k].width = width_of(node.type);
    nodes_[k].base = nodes_[k].cell;
    if (node.kind != Kind::Constant) continue;
    nodes_[k].mode = Mode::Uniform;
    if (node.type == Type::Float) {
      std::memcpy(nodes_[k].cell, make_float(state.cpu.widths(), node.float_value).payload, 8);
    } else {  // BOOL is one byte; INT wraps to its width
      std::memcpy(nodes_[k].cell, &node.int_value, 8);
    }
  }
  find_run_indices();
  programs_ = make_programs(pass, [&](const PlanSink& sink) { return scatters_runs(sink); });
}

const Segments& BoundPass::segments(SegdesId id) {
  if (!segments_[id]) segments_[id].emplace(state_.cpu, state_.segdes[id]);
  return *segments_[id];
}

void BoundPass::note(NodeId number, std::int64_t position, std::int64_t value,
                     std::int64_t limit) const {
  const PlanNode& node = pass_.nodes[number];
  KernelFault fault;
  fault.kind = node.kind == Kind::Apply    ? KernelFault::Kind::Division
               : node.kind == Kind::Gather ? KernelFault::Kind::Index
                                           : KernelFault::Kind::Segment;
  fault.binding = node.binding;
  fault.position = position;
  fault.node = number;
  fault.op = node.op;
  fault.id = node.id;
  fault.value = value;
  fault.limit = limit;
  fault.count = length_;
  state_.faults.note(fault);
}

void BoundPass::note_index(NodeId gather, const std::byte* indices, const std::uint8_t* flags,
                           std::int64_t begin, std::int64_t n, std::int64_t limit) const {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t index = int_at(indices, i);
    if ((flags != nullptr && flags[i] == 0) || (index >= 0 && index < limit)) continue;
    note(gather, begin + i, index, limit);
    return;
  }
}

void BoundPass::begin(std::int64_t length) {
  length_ = length;
  different_.clear();
  for (std::size_t k = 0; k < stream_at_.size(); ++k) stream_at_[k] = state_.stream_at(k);
}

bool BoundPass::bind_again(std::int64_t length) {
  if (!bound_) return false;
  begin(length);
  if (!has_same_steps()) return false;
  find_bytes();
  for (BoundProgram* program : {&main, &epilogue, &selected}) {
    for (BoundSteps* steps : {&program->element_steps, &program->run_steps}) {
      for (BoundStep& step : steps->steps) {
        step.target = kNone;
        step.left_out = false;
      }
    }
    program->targets.clear();
    renew_runs(*program);
  }
  return true;
}

void BoundPass::bind_anew(std::int64_t length) {
  bound_ = false;
  begin(length);
  for (auto& segments : segments_) segments.reset();
  for (NodeId k = 0; k < nodes_.size(); ++k) bind_node(k);
  find_bytes();
  bind_program(main, programs_.main);
  if (pass_.has_scan) bind_program(epilogue, programs_.epilogue);
  if (!programs_.selected.roots.empty()) bind_program(selected, programs_.selected);
  find_volatile();
  bound_ = true;
}

void BoundPass::find_volatile() {
  volatile_.clear();
  for (NodeId k = 0; k < nodes_.size(); ++k) {
    const Kind kind = pass_.nodes[k].kind;
    const bool computed =
        kind == Kind::Apply && nodes_[k].mode == Mode::Slot && special_[k] == Special::None;
    if (kind != Kind::Constant && kind != Kind::Position && kind != Kind::Scan && !computed) {
      volatile_.push_back(what_is(k));
    }
  }
  single_.resize(segments_.size());
  for (std::size_t k = 0; k < segments_.size(); ++k) single_[k] = state_.segdes[k].count == 1;
}

/// Binds what depends on the operands. False when something is of another kind than last time.
bool BoundPass::has_same_steps() {
  // Whether everything fits the INT of the run is looked at with the steps.
  constexpr std::int64_t kFits = std::numeric_limits<std::int32_t>::max();
  if (length_ > kFits) return false;
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segdes& segdes = state_.segdes[k];
    if (single_[k] != (segdes.count == 1)) return false;
    if (!segments_[k]) continue;
    if (segdes.count > kFits || segdes.total > kFits) return false;
    segments_[k].emplace(state_.cpu, segdes);
  }
  for (const Volatile& last : volatile_) {
    bind_node(last.node);
    if (what_is(last.node) != last) return false;
    const bool is_progression =
        pass_.nodes[last.node].kind == Kind::Load && last.mode == Mode::Slot;
    if (is_progression) return false;
  }
  return true;
}

// --- Nodes ---

void BoundPass::bind_node(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  special_[number] = Special::None;
  if (node.kind == Kind::Constant) return;
  nodes_[number].mode = Mode::Slot;
  nodes_[number].base = nodes_[number].cell;
  switch (node.kind) {
    case Kind::Size:
      set_int(number, state_.size(node.id));
      break;
    case Kind::Load:
      read_in_place(number, state_.arrays[node.id], 0);
      break;
    case Kind::Apply:
      bind_apply(number);
      break;
    case Kind::Gather:
      is_walked(pass_, number) ? bind_walked(number) : bind_gather(number);
      break;
    case Kind::FindSegment:
    case Kind::SegmentLength:
    case Kind::SegmentStart:
      is_walked(pass_, number) ? bind_walked(number) : bind_segment(number);
      break;
    case Kind::SegmentNumber:
    case Kind::SegmentOffset:
      bind_walked(number);
      break;
    case Kind::State:
      bind_state(number);
      break;
    default:
      break;
  }
}

void BoundPass::bind_state(NodeId number) {
  const std::byte* element = uniform_state[pass_.nodes[number].id];
  nodes_[number].mode = element == nullptr ? Mode::Memory : Mode::Uniform;
  if (element != nullptr) std::memcpy(nodes_[number].cell, element, sizeof nodes_[number].cell);
}

void BoundPass::set_int(NodeId number, std::int64_t value) {
  nodes_[number].mode = Mode::Uniform;
  std::memcpy(nodes_[number].cell, make_int(state_.cpu.widths(), value).payload, 8);
}

void BoundPass::set_zero(NodeId number) {
  nodes_[number].mode = Mode::Uniform;
  std::memset(nodes_[number].cell, 0, 8);
}

void BoundPass::read_in_place(NodeId number, const Vector& vector, std::int64_t shift) {
  BoundNode& node = nodes_[number];
  if (vector.form == Form::Constant) {
    node.mode = Mode::Uniform;
    std::memcpy(node.cell, vector.payload, 8);
  } else if (vector.form == Form::Narrow) {
    node.mode = Mode::Narrow;
    node.base = elements<std::byte>(vector) + shift;
  } else if (vector.form != Form::Progression) {
    node.mode = Mode::Memory;
    node.base = elements<std::byte>(vector) + shift * node.width;
  }
}

/// Looks at the operands of this run: the steps are the same whether values fit bytes or not.
void BoundPass::find_bytes() {
  fits_bytes_.assign(nodes_.size(), false);
  const auto fits = [](const Vector& vector) { return vector.fits_bytes; };
  if (std::none_of(state_.arrays.begin(), state_.arrays.end(), fits)) return;
  for (NodeId k = 0; k < nodes_.size(); ++k) {
    const PlanNode& node = pass_.nodes[k];
    if (nodes_[k].mode == Mode::Uniform) continue;
    if (node.kind == Kind::Load || node.kind == Kind::Gather) {
      fits_bytes_[k] = fits(state_.arrays[node.id]);
    } else if (special_[k] == Special::Copy) {
      fits_bytes_[k] = fits_bytes_[copied_[k]];
    } else if (node.applies(Op::Select) && node.type == Type::Int) {
      // Numbers alone are left as they are: what follows is likely to count them.
      fits_bytes_[k] = (fits_bytes_[node.args[1]] && joins_bytes(node.args[2])) ||
                       (joins_bytes(node.args[1]) && fits_bytes_[node.args[2]]);
    }
  }
}

bool BoundPass::joins_bytes(NodeId number) const {
  constexpr std::int64_t kMost = 255;
  if (fits_bytes_[number] || pass_.nodes[number].type != Type::Int) return fits_bytes_[number];
  return is_uniform(number) && uniform_int(number) >= 0 && uniform_int(number) <= kMost;
}

bool BoundPass::compares_bytes(NodeId number) const {
  const PlanNode& node = pass_.nodes[number];
  if (node.kind != Kind::Apply || !vcode::is_comparison(node.op) || node.written != Type::Int) {
    return false;
  }
  const Mode first = nodes_[node.args[0]].mode;
  const Mode second = nodes_[node.args[1]].mode;
  return (first == Mode::Narrow && second == Mode::Uniform) ||
         (first == Mode::Uniform && second == Mode::Narrow);
}

/// Is the node nowhere wanted?
bool BoundPass::drops_out(NodeId number) {
  const NodeId guard = pass_.nodes[number].guard;
  if (guard == kNone || !is_uniform(guard) || nodes_[guard].cell[0] != std::byte{0}) return false;
  set_zero(number);
  return true;
}

/// The node fails wherever it is wanted.
void BoundPass::fail_everywhere(NodeId number, std::int64_t value, std::int64_t limit) {
  set_zero(number);
  const NodeId guard = pass_.nodes[number].guard;
  if (guard == kNone || is_uniform(guard)) {
    note(number, 0, value, limit);
  } else {
    special_[number] = Special::Fails;
  }
}

void BoundPass::bind_apply(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  if (node.op == Op::Select && is_uniform(node.args[0])) {
    bind_select(number);
    return;
  }
  const std::size_t count = arity(node);
  if (drops_out(number) ||
      !std::all_of(node.args, node.args + count, [&](NodeId arg) { return is_uniform(arg); })) {
    return;
  }
  const ElementwiseKernel kernel =
      state_.cpu.kernels().elementwise[static_cast<std::size_t>(node.op)][written_index(node)];
  const auto cell = [&](std::size_t k) { return nodes_[node.args[k < count ? k : 0]].cell; };
  nodes_[number].mode = Mode::Uniform;
  if (kernel(nodes_[number].cell, cell(0), cell(1), cell(2), 1)) fail_everywhere(number, 0, 0);
}

/// The kernel, which reads operands that are uniform only once.
void BoundPass::finish_apply(BoundStep& step) const {
  const PlanNode& node = pass_.nodes[step.node];
  const std::size_t count = arity(node);
  unsigned scalars = 0;
  for (std::size_t k = 0; k < count; ++k) {
    scalars |= static_cast<unsigned>(is_uniform(node.args[k])) << k;
  }
  for (std::size_t k = count; k < 3; ++k) step.args[k] = step.args[0];
  const auto op = static_cast<std::size_t>(node.op);
  const std::size_t type = written_index(node);
  step.kernel = scalars == 0 ? state_.cpu.kernels().elementwise[op][type]
                             : state_.cpu.kernels().with_scalars[op][type][scalars];
}

void BoundPass::bind_select(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  const bool first = nodes_[node.args[0]].cell[0] != std::byte{0};
  const NodeId chosen = node.args[first ? 1 : 2];
  if (is_uniform(chosen)) {
    nodes_[number].mode = Mode::Uniform;
    std::memcpy(nodes_[number].cell, nodes_[chosen].cell, 8);
  } else {
    // A copy, because the slot or vector of the other may be overwritten earlier.
    special_[number] = Special::Copy;
    copied_[number] = chosen;
  }
}

/// Is an index the own position plus what is the same everywhere? What wraps around on the way is
/// the same number again where the sum lies inside of a vector.
bool BoundPass::shifts(NodeId index, std::int64_t& shift) const {
  const PlanNode& node = pass_.nodes[index];
  shift = 0;
  if (node.kind == Kind::Position) return true;
  if (node.type != Type::Int || !(node.applies(Op::Add) || node.applies(Op::Subtract))) {
    return false;
  }
  const auto adds = [&](NodeId number, NodeId by) {
    if (!is_uniform(by) || is_uniform(number) || !shifts(number, shift)) return false;
    const std::int64_t more = uniform_int(by);
    return node.op == Op::Add ? !__builtin_add_overflow(shift, more, &shift)
                              : !__builtin_sub_overflow(shift, more, &shift);
  };
  return adds(node.args[0], node.args[1]) ||
         (node.op == Op::Add && adds(node.args[1], node.args[0]));
}

void BoundPass::bind_gather(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  const NodeId index = node.args[0];
  const Vector& vector = state_.arrays[node.id];
  if (drops_out(number) || node.changes) return;
  if (is_uniform(index)) {
    const std::int64_t at = uniform_int(index);
    if (at < 0 || at >= vector.length) {
      fail_everywhere(number, at, vector.length);
      return;
    }
    nodes_[number].mode = Mode::Uniform;
    state_.cpu.download(vector, at, 1, nodes_[number].cell);
    return;
  }
  std::int64_t shift = 0;
  if (shifts(index, shift) && shift >= 0 && shift <= vector.length - length_) {
    if (vector.form != Form::Progression) read_in_place(number, vector, shift);
  } else if (!node.traps && vector.form == Form::Constant) {
    read_in_place(number, vector, 0);
  }
}

void BoundPass::bind_segment(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  const Segdes& segdes = state_.segdes[node.id];
  if (drops_out(number)) return;
  std::int64_t shift = 0;
  const bool in_order =
      shifts(node.args[0], shift) && shift >= 0 && shift <= segdes.count - length_;
  if (node.kind == Kind::SegmentLength && in_order) {
    if (segdes.uniform) {
      set_int(number, segdes.uniform_length);
    } else {
      read_in_place(number, segdes.tables->lengths, shift);
    }
    return;
  }
  if (node.kind == Kind::SegmentStart && in_order && !segdes.uniform &&
      segdes.tables->starts.length > 0) {
    read_in_place(number, segdes.tables->starts, shift);
    return;
  }
  if (!is_uniform(node.args[0])) return;
  const std::int64_t at = uniform_int(node.args[0]);
  const std::int64_t limit = node.kind == Kind::FindSegment ? segdes.total : segdes.count;
  if (at < 0 || at >= limit) {
    fail_everywhere(number, at, limit);
    return;
  }
  const Segments& found = segments(node.id);
  set_int(number, node.kind == Kind::FindSegment     ? found.place_of(at).segment
                  : node.kind == Kind::SegmentLength ? found.length(at)
                                                     : found.start(at));
}

void BoundPass::bind_walked(NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  const bool single = state_.segdes[walked_segdes(pass_, number)].count == 1;
  switch (node.kind) {
    case Kind::SegmentNumber:
      if (single) set_int(number, 0);
      break;
    case Kind::Gather:
      if (single || state_.arrays[node.id].form == Form::Constant) {
        nodes_[number].mode = Mode::Uniform;
        state_.cpu.download(state_.arrays[node.id], 0, 1, nodes_[number].cell);
      }
      break;
    case Kind::SegmentLength:
      if (state_.segdes[node.id].uniform) set_int(number, state_.segdes[node.id].uniform_length);
      break;
    case Kind::SegmentStart:
      if (single) set_int(number, 0);
      break;
    default:
      break;
  }
}

}  // namespace cvl::cpu
