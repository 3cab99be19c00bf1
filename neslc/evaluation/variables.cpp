#include "neslc/evaluation/variables.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/constants.hpp"
#include "neslc/evaluation/value_text.hpp"

namespace neslc {

// ---- What a program uses of them

void Variables::begin_program() {
  first_components_.clear();
  components_.clear();
}

std::int64_t Variables::first_component(const Definition& variable) {
  const std::vector<cvl::Value>* const value = value_of(variable);
  if (value == nullptr) return -1;
  const auto [at, inserted] =
      first_components_.try_emplace(&variable, static_cast<std::int64_t>(components_.size()));
  if (inserted) components_.insert(components_.end(), value->begin(), value->end());
  return at->second;
}

// ---- Values

void Variables::bind(const std::vector<const Definition*>& variables,
                     const std::vector<std::size_t>& widths,
                     const std::vector<cvl::Value>& values) {
  release(variables);
  keep(variables, widths, values);
}

void Variables::keep(const std::vector<const Definition*>& variables,
                     const std::vector<std::size_t>& widths,
                     const std::vector<cvl::Value>& values) {
  auto next = values.begin();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(widths[i]);
    if (variables[i] != nullptr) values_[variables[i]].assign(next, end);
    next = end;
  }
}

void Variables::bind(std::unique_ptr<BackgroundEvaluation> evaluation) {
  release(evaluation->variables);
  for (const Definition* const variable : evaluation->variables) values_.erase(variable);
  pending_.push_back(std::make_unique<Pending>());
  pending_.back()->evaluation = std::move(evaluation);
}

/// These variables wait no longer; an evaluation that nobody waits for ends.
void Variables::release(const std::vector<const Definition*>& variables) {
  std::erase_if(pending_, [&](const std::unique_ptr<Pending>& pending) {
    auto& waiting = pending->evaluation->variables;
    for (const Definition*& one : waiting) {
      if (std::find(variables.begin(), variables.end(), one) != variables.end()) one = nullptr;
    }
    return !waiting.empty() && std::all_of(waiting.begin(), waiting.end(),
                                           [](const auto* one) { return one == nullptr; });
  });
}

const std::vector<cvl::Value>* Variables::value_of(const Definition& variable) {
  await(variable);
  const auto found = values_.find(&variable);
  return found == values_.end() ? nullptr : &found->second;
}

void Variables::move_to(cvl::Backend& backend) {
  vcode::LinkedProgram values;
  for (const auto& [definition, components] : values_) {
    for (const cvl::Value& component : components) {
      values.constants.push_back(literal_of(*backend_, component));
    }
  }
  vcode::Diagnostics diagnostics;
  std::vector<cvl::Value> moved = vinterp::load_constants(values, backend, diagnostics);
  if (diagnostics.has_errors()) {
    const vcode::Diagnostic& reason = diagnostics.all().front();
    throw cvl::Failure(reason.code, reason.message, {}, reason.hint);
  }
  std::size_t next = 0;
  for (auto& [definition, components] : values_) {
    for (cvl::Value& component : components) component = std::move(moved[next++]);
  }
  components_.clear();
  backend_ = &backend;
}

// ---- Background evaluations

Variables::Pending* Variables::pending(const Definition& variable) {
  for (const auto& one : pending_) {
    const auto& waiting = one->evaluation->variables;
    if (std::find(waiting.begin(), waiting.end(), &variable) != waiting.end()) return one.get();
  }
  return nullptr;
}

/// Waits for the result, and gives the variables their values or keeps the failure. False if the
/// wait was interrupted.
bool Variables::fetch(Pending& pending, Evaluation& interrupted) {
  if (pending.failure) return true;
  BackgroundEvaluation& evaluation = *pending.evaluation;
  Evaluation result = evaluation.await(*backend_, profile);
  if (result.status == Evaluation::Status::Interrupted) {
    interrupted = std::move(result);
    return false;
  }
  if (result.status == Evaluation::Status::Done) {
    if (on_value) on_value(evaluation, result);
    keep(evaluation.variables, evaluation.widths, result.values);
    std::erase_if(pending_, [&](const auto& one) { return one.get() == &pending; });
    return true;
  }
  result.diagnostic->notes.push_back(
      {fmt::format("`{}` was evaluated in the background and has no value", evaluation.name), {}});
  pending.failure = std::move(result);
  return true;
}

/// The failure, with its cost at the first time only.
Evaluation Variables::tell(Pending& pending) {
  Evaluation failure = *pending.failure;
  if (std::exchange(pending.told, true)) failure.cost.reset();
  return failure;
}

void Variables::await(const Definition& variable) {
  Pending* found = pending(variable);
  if (found == nullptr) return;
  NoValue reason;
  if (!fetch(*found, reason.evaluation)) throw reason;
  found = pending(variable);
  if (found == nullptr) return;
  reason.evaluation = tell(*found);
  throw reason;
}

std::string Variables::background_text() {
  std::string text;
  for (const auto& one : pending_) {
    const char* const state = one->failure              ? "failed"
                              : one->evaluation->runs() ? "running"
                                                        : "finished";
    text += fmt::format("  {} : {} ({})\n", one->evaluation->name, one->evaluation->type, state);
  }
  return text;
}

void Variables::collect_processes() {
  for (const auto& one : pending_) one->evaluation->runs();
}

std::vector<Evaluation> Variables::await_all() {
  std::vector<Evaluation> untold;
  for (std::size_t i = 0; i < pending_.size();) {
    const std::size_t waiting = pending_.size();
    if (!fetch(*pending_[i], untold.emplace_back())) return untold;
    untold.pop_back();
    if (pending_.size() < waiting) continue;  // it has its value
    Pending& failed = *pending_[i++];
    if (!failed.told) untold.push_back(tell(failed));
  }
  return untold;
}

}  // namespace neslc
