#include "neslc/graph/recorder.hpp"

#include <fmt/format.h>

#include "neslc/evaluation/value_text.hpp"
#include "vcode/stack_moves.hpp"

namespace neslc::graph {
namespace {

std::string element_text(std::int64_t element) {
  return std::to_string(element);
}
std::string element_text(double element) {
  return fmt::format("{:.4g}", element);
}
std::string element_text(std::uint8_t element) {
  return element != 0 ? "T" : "F";
}

}  // namespace

void Recorder::enter_function(std::uint32_t, std::uint32_t call) {
  // The entry function is not called from anywhere.
  callers_.push_back(callers_.empty() ? 0 : level_of(call));
}

void Recorder::leave_function(std::uint32_t) {
  callers_.pop_back();
}

void Recorder::call_again(std::uint32_t, std::uint32_t call) {
  callers_.back() = level_of(call);
}

void Recorder::after(const vinterp::Step& step, double) {
  if (!flow_.complete) return;
  using vcode::Op;
  switch (step.op->op) {
    case Op::Copy:
    case Op::Pop:
    case Op::CPop:
      vcode::move_entries(*step.code, stack_);
      break;
    case Op::If:
      take(1);
      break;
    case Op::Const:
      constant(step);
      break;
    default:
      operation(step);
  }
  flow_.results = stack_;
  flow_.complete = flow_.operations.size() < kMostOperations;
}

/// The topmost data, deepest first.
std::vector<std::size_t> Recorder::take(std::size_t count) {
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<std::size_t> taken(first, stack_.end());
  stack_.erase(first, stack_.end());
  return taken;
}

std::size_t Recorder::new_datum(const cvl::Value& value) {
  Datum datum;
  datum.descriptor = value.type() == vcode::Type::Segdes;
  if (datum.descriptor || value.is_vector()) {
    datum.total = datum.descriptor ? value.segdes().total : 0;
    datum.length = datum.descriptor ? value.segdes().count : value.vector().length;
    std::visit(
        [&](const auto& elements) {
          for (const auto element : elements) datum.elements.push_back(element_text(element));
        },
        download(backend_, value, kShownElements));
  }
  flow_.data.push_back(std::move(datum));
  return flow_.data.size() - 1;
}

void Recorder::constant(const vinterp::Step& step) {
  const auto [known, is_new] = constants_.try_emplace(step.code->a, 0);
  if (is_new) {
    known->second = new_datum(step.stack.back());
    flow_.data[known->second].text = text_of(step.instruction);
  }
  stack_.push_back(known->second);
}

void Recorder::operation(const vinterp::Step& step) {
  Operation made;
  made.op = step.op->op;
  made.in = take(static_cast<std::size_t>(step.operand_count));
  const auto results = step.stack.last(static_cast<std::size_t>(step.result_count));
  if (results.empty()) return;
  const bool descriptor = made.op == vcode::Op::MakeSegdes;
  if (descriptor) {
    if (const auto known = descriptors_.find(made.in[0]); known != descriptors_.end()) {
      stack_.push_back(known->second);
      return;
    }
    if (flow_.data[made.in[0]].producer == kNone) {  // of constant lengths: a constant too
      const std::size_t datum = new_datum(results[0]);
      flow_.data[datum].text = flow_.data[made.in[0]].text;
      descriptors_[made.in[0]] = datum;
      stack_.push_back(datum);
      return;
    }
  }
  made.text = text_of(step.instruction);
  made.level = level_of(step.instruction);
  for (const cvl::Value& result : results) {
    const std::size_t datum = new_datum(result);
    flow_.data[datum].producer = flow_.operations.size();
    made.out.push_back(datum);
    stack_.push_back(datum);
  }
  if (descriptor) descriptors_[made.in[0]] = made.out[0];
  flow_.operations.push_back(std::move(made));
}

std::size_t Recorder::level_of(std::uint32_t instruction) const {
  std::size_t level = callers_.empty() ? 0 : callers_.back();
  for (const SourceMap::Frame& frame : places_.frames(instruction)) {
    if (!frame.scope->library) level += nesting_.level(frame.scope->function, frame.span);
  }
  return level;
}

std::string Recorder::text_of(std::uint32_t instruction) const {
  const SourceMap::UserPlace place = places_.user_place(instruction);
  if (!place.source) return place.library;
  return std::string(place.source->text(place.span));
}

}  // namespace neslc::graph
