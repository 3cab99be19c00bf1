#include "cvl-cpu/kernel_loop.hpp"

#include <algorithm>
#include <limits>

#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

/// What is reckoned with before anything is known of how long the states go on.
constexpr std::int64_t kExpectedRounds = 64;

/// A round of fewer states takes as long as one of so many.
constexpr std::int64_t kLeastCost = 64;

}  // namespace

LoopSink::LoopSink(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
    : KernelSink(pass, sink, program),
      loop_(state_.plan.loops[sink.loop]),
      body_(state_, loop_.body),
      components_(sink.values.size()) {
  body_.uniform_state.resize(components_.size());
  body_.begins_uniform.resize(components_.size());
  for (std::size_t k = 0; k < components_.size(); ++k) {
    LoopComponent& component = components_[k];
    component.initial = sink.values[k];
    component.type = type_of(component.initial);
    component.width = width_of(component.type);
    component.changes = !loop_.keeps(k);
    if (sink.arrays[k] != kNone) component.result = &state_.arrays[sink.arrays[k]];
  }
  for (NodeId k = 0; k < loop_.body.nodes.size(); ++k) {
    const PlanNode& node = loop_.body.nodes[k];
    if (node.kind == PlanNode::Kind::State) components_[node.id].state = k;
  }
  for (const PlanLoop::Table& table : loop_.tables) {
    takes_over_.push_back(may_take_over(table.operand));
  }
}

void LoopSink::open_empty() {
  for (const LoopComponent& component : components_) {
    if (component.result != nullptr) *component.result = cpu_.new_vector(component.type, 0);
  }
}

std::int64_t LoopSink::rounds_cost() const {
  return kExpectedRounds * tuning.native_step_cost *
         static_cast<std::int64_t>(loop_.body.nodes.size());
}

bool LoopSink::open_states() {
  for (std::size_t k = 0; k < components_.size(); ++k) {
    LoopComponent& component = components_[k];
    const std::byte* cell = pass_.node(component.initial).cell;
    component.uniform = !component.changes && pass_.is_uniform(component.initial);
    component.element = nullptr;
    body_.uniform_state[k] = component.uniform ? cell : nullptr;
    body_.begins_uniform[k] = component.changes && pass_.is_uniform(component.initial);
    if (component.result == nullptr) continue;
    if (component.uniform) {
      *component.result = constant_vector(cpu_, component.type, length(), cell);
    } else {
      *component.result = cpu_.new_vector(component.type, length());
      component.element = checked_storage(cpu_, *component.result, 0, length());
    }
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / kExpectedRounds;
  return body_.bind(std::clamp(length(), kLeastCost, kMost) * kExpectedRounds);
}

/// Does nobody but the loop want the operand of a table?
bool LoopSink::may_take_over(ArrayId operand) const {
  const KernelPlan& plan = state_.plan;
  const PlanPass& pass = pass_.plan();
  const auto reads = [&](const PlanNode& node) {
    const bool of_array = node.kind == PlanNode::Kind::Load || node.kind == PlanNode::Kind::Gather;
    return of_array && node.id == operand;
  };
  const auto is_operand = [&](const vcode::KernelParameter& parameter) {
    return !parameter.segdes && parameter.id == operand;
  };
  const std::vector<vcode::KernelParameter>& outputs = plan.kernel->outputs;
  return pass.sinks.size() == 1 && &plan.passes[plan.last_read[operand]] == &pass &&
         std::none_of(outputs.begin(), outputs.end(), is_operand) &&
         std::none_of(pass.nodes.begin(), pass.nodes.end(), reads);
}

void LoopSink::open_tables() {
  for (std::size_t k = 0; k < loop_.tables.size(); ++k) {
    Vector& operand = state_.arrays[loop_.tables[k].operand];
    Vector& array = state_.arrays[loop_.tables[k].array];
    if (takes_over_[k] && operand.form == Form::Dense && operand.buffer.unique()) {
      array = std::exchange(operand, Vector());
      array.fits_bytes = false;
    } else {
      array = cpu_.new_vector(operand.type, operand.length);
      copy_elements(cpu_, array, 0, operand, operand.length);
    }
  }
}

RoundPlaces round_places(const PlanLoop& loop) {
  return {static_cast<std::uint32_t>(loop.components),
          static_cast<std::uint32_t>(loop.body.nodes.size()),
          static_cast<std::uint32_t>(loop.tables.size())};
}

RoundTable::RoundTable(const BoundPass& body, const PlanLoop& loop)
    : places_(round_places(loop)), at_(places_.count()), lengths_(places_.nodes + places_.tables) {
  renew(body, loop);
}

void RoundTable::renew(const BoundPass& body, const PlanLoop& loop) {
  for (NodeId k = 0; k < places_.nodes; ++k) at_[places_.node(k)] = body.node(k).base;
  for (const BoundStep& step : body.main.usual().steps) {
    if (step.kind != BoundStep::Kind::Gather) continue;
    at_[places_.node(step.node)] = elements<std::byte>(*step.vector);
    // Machine code of processors that have low bytes first: an INT of any width begins here.
    const bool counts = step.vector->form == Form::Progression;
    lengths_[step.node] = counts ? step.vector->progression_step() : step.vector->length;
    at_[places_.length(step.node)] = reinterpret_cast<const std::byte*>(&lengths_[step.node]);
  }
  for (std::uint32_t k = 0; k < places_.tables; ++k) {
    const Vector& table = body.state().arrays[loop.tables[k].array];
    std::int64_t& length = lengths_[places_.nodes + k];
    length = table.length;
    at_[places_.table(k)] = elements<std::byte>(table);
    at_[places_.table_length(k)] = reinterpret_cast<const std::byte*>(&length);
  }
}

}  // namespace cvl::cpu
