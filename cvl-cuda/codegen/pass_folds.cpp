// What a pass folds: scans, reductions, numbers of selected elements.

#include <algorithm>

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {

int PassWriter::add_fold(Fold fold) {
  folds_.push_back(std::move(fold));
  return static_cast<int>(folds_.size()) - 1;
}

void PassWriter::find_folds() {
  for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
    const PlanNode& scan = node(k);
    if (scan.kind != PlanNode::Kind::Scan) continue;
    Fold fold;
    fold.combiner = combiner_text(scan.op);
    fold.type = type_text(scan.type);
    fold.value = value_name(scan.args[0]);
    fold.needs = {scan.args[0]};
    fold.under = scan.id;
    fold.running = true;
    fold_of_scan_[k] = add_fold(std::move(fold));
  }
  for (std::uint32_t k = 0; k < pass_.sinks.size(); ++k) {
    const PlanSink& sink = pass_.sinks[k];
    switch (sink.kind) {
      case PlanSink::Kind::Reduce:
        add_reduction(sink);
        break;
      case PlanSink::Kind::Filter:
      case PlanSink::Kind::Split:
        count_of_sink_[k] = code_.counts;
        code_.counted |= sink.kind == PlanSink::Kind::Split && sink.classes > kMostUncounted;
        fold_of_selection_[k] = static_cast<int>(folds_.size());
        add_selection(sink);
        break;
      case PlanSink::Kind::Size:
        count_of_sink_[k] = code_.counts++;
        break;
      case PlanSink::Kind::Scatter:
        code_.targets = true;
        break;
      default:
        break;
    }
  }
}

void PassWriter::add_reduction(const PlanSink& sink) {
  Fold fold;
  fold.combiner = combiner_text(sink.op);
  fold.type = type_text(node(sink.values[0]).type);
  fold.value = value_name(sink.values[0]);
  fold.needs = sink.values;
  fold.under = sink.under;
  if (sink.under == kNone) {
    fold.concluded = target(sink.arrays[0]) + "[0]";
  } else {
    fold.running = true;
    fold.at_segment_end = target(sink.arrays[0]);
    fold.of_nothing = fmt::format("{}::identity<{}>()", fold.combiner, fold.type);
  }
  add_fold(std::move(fold));
}

/// For each class the number of its elements so far, and then those within each segment.
void PassWriter::add_selection(const PlanSink& sink) {
  const auto count_of = [&](std::int64_t number) {
    Fold fold;
    fold.combiner = "ops::Add";
    fold.type = "std::int64_t";
    fold.value = sink.kind == PlanSink::Kind::Filter
                     ? fmt::format("std::int64_t{{{} != 0}}", value_name(sink.flag))
                     : fmt::format("std::int64_t{{{} == {}}}", value_name(sink.flag), number);
    fold.needs = {sink.flag};
    fold.running = true;
    return fold;
  };
  for (std::int64_t number = 0; number < sink.classes; ++number) {
    Fold fold = count_of(number);
    fold.concluded = count(code_.counts++);
    add_fold(std::move(fold));
  }
  if (sink.under == kNone || !sink.wants_segdes) return;
  for (std::int64_t number = 0; number < sink.classes; ++number) {
    Fold fold = count_of(number);
    fold.under = sink.under;
    fold.at_segment_end = lengths(sink.segdes[static_cast<std::size_t>(number)]);
    fold.of_nothing = "0";
    add_fold(std::move(fold));
  }
}

/// Reductions of all positions are the only folds that nobody wants to know on the way.
void PassWriter::find_running() {
  for (const Fold& fold : folds_) {
    code_.running |= fold.running;
    code_.others |= !fold.at_segment_end.empty();
  }
}

std::string PassWriter::result_of(std::size_t fold, const std::string& state) const {
  return fmt::format("F{0}::result({1}.f{0})", fold, state);
}

std::vector<NodeId> PassWriter::roots_of_folds() const {
  std::vector<NodeId> roots;
  for (const Fold& fold : folds_) roots.insert(roots.end(), fold.needs.begin(), fold.needs.end());
  return roots;
}

void PassWriter::begin_segments() {
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    if (folds_[k].under == kNone) continue;
    line(
        fmt::format("if (i == {0}.start) F{1}::end_segment(state.f{1});", own(folds_[k].under), k));
  }
}

void PassWriter::add_to_folds(bool all) {
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    if (!all && !folds_[k].running) continue;
    line(fmt::format("F{0}::add(state.f{0}, {1});", k, folds_[k].value));
  }
}

void PassWriter::write_segment_ends() {
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    const Fold& fold = folds_[k];
    if (fold.at_segment_end.empty()) continue;
    const std::string place = own(fold.under);
    line(fmt::format("if (i + 1 == {0}.end) {1}[{0}.segment] = static_cast<{2}>({3});", place,
                     fold.at_segment_end, fold.type == "std::int64_t" ? "Int" : fold.type,
                     result_of(k, "state")));
  }
}

std::string PassWriter::state_types() {
  if (folds_.empty()) return "  using State = NoState;\n  using Fold = NoFold;\n";
  std::string types, members, visited, neutral, combined;
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    const char* comma = k == 0 ? "" : ", ";
    types += fmt::format("  using F{} = {}<{}, {}>;\n", k,
                         folds_[k].under == kNone ? "FlatFold" : "SegmentFold", folds_[k].combiner,
                         folds_[k].type);
    members += fmt::format("    typename F{0}::State f{0};\n", k);
    visited += fmt::format("      for_scalars(self.f{}, visit);\n", k);
    neutral += fmt::format("{}F{}::neutral()", comma, k);
    combined += fmt::format("{0}F{1}::combine(a.f{1}, b.f{1})", comma, k);
  }
  return fmt::format(
      "{}  struct State {{\n{}"
      "    template <class Self, class Visit>\n"
      "    static constexpr KERNEL_FN void each_scalar(Self& self, const Visit& visit) {{\n{}"
      "    }}\n"
      "  }};\n"
      "  struct Fold {{\n"
      "    static KERNEL_FN State neutral() {{ return {{{}}}; }}\n"
      "    static KERNEL_FN State combine(const State& a, const State& b) {{\n"
      "      return {{{}}};\n"
      "    }}\n"
      "  }};\n",
      types, members, visited, neutral, combined);
}

}  // namespace cvl::cuda::codegen
