// Passes with running values: what is done of a position before it is known what lies before it,
// what after that, and what is kept in between so that nothing is evaluated twice.

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {
namespace {

using Kind = PlanNode::Kind;

/// Is the value at hand wherever a position is, so that it is not worth a register?
bool is_at_hand(const PlanNode& node) {
  switch (node.kind) {
    case Kind::Constant:
    case Kind::Size:
    case Kind::Position:
    case Kind::SegmentNumber:
    case Kind::SegmentOffset:
      return true;
    default:
      return false;
  }
}

/// Of registers, which are words.
int register_bytes(const PlanNode& value) {
  return value.type == vcode::Type::Bool ? 4 : 8;
}

}  // namespace

bool PassWriter::is_late(const PlanSink& sink) const {
  if (sink.kind == PlanSink::Kind::Filter || sink.kind == PlanSink::Kind::Split) return true;
  return is_late(sink.flag) || is_late(sink.index) ||
         std::any_of(sink.values.begin(), sink.values.end(),
                     [&](NodeId value) { return is_late(value); });
}

/// What finish() reads and evaluate() has found out.
void PassWriter::find_kept() {
  std::vector<bool> read(pass_.nodes.size());
  const auto reads = [&](NodeId number) {
    if (number != kNone) read[number] = true;
  };
  for (const PlanNode& each : pass_.nodes) {
    if (!each.after_scan || each.kind == Kind::Scan) continue;
    for (const NodeId arg : each.args) reads(arg);
    reads(each.guard);
  }
  for (const PlanSink& sink : pass_.sinks) {
    if (sink.kind == PlanSink::Kind::Reduce || !is_late(sink)) continue;
    reads(sink.flag);
    reads(sink.index);
    for (const NodeId value : sink.values) reads(value);
  }
  for (const Fold& fold : folds_) {
    if (!fold.running) continue;
    for (const NodeId need : fold.needs) reads(need);
  }
  // A flag that one operation makes of what is there anyway is not worth a register either.
  std::vector<bool> repeated(read.size());
  for (NodeId k = 0; k < read.size(); ++k) {
    if (!read[k] || is_late(k)) continue;
    const PlanNode& flag = node(k);
    repeated[k] = is_at_hand(flag);
    if (flag.kind != Kind::Apply || flag.type != vcode::Type::Bool || flag.traps) continue;
    const auto is_there = [&](NodeId arg) {
      return arg == kNone || is_at_hand(node(arg)) || (read[arg] && !repeated[arg]);
    };
    repeated[k] = std::all_of(std::begin(flag.args), std::end(flag.args), is_there);
    if (!repeated[k]) continue;
    for (const NodeId arg : flag.args) {
      if (arg != kNone && is_at_hand(node(arg))) read[arg] = repeated[arg] = true;
    }
  }
  for (NodeId k = 0; k < read.size(); ++k) {
    if (read[k] && !is_late(k)) (repeated[k] ? repeated_ : kept_).push_back(k);
  }
}

/// Those whose segments a block looks for, each in a window of its tile.
int PassWriter::descriptors_walked() const {
  std::set<SegdesId> walked;
  for (const PlanNode& each : pass_.nodes) {
    if (each.kind == Kind::SegmentNumber || each.kind == Kind::SegmentOffset) {
      walked.insert(each.id);
    }
  }
  for (const Fold& fold : folds_) {
    if (fold.under != kNone) walked.insert(fold.under);
  }
  return static_cast<int>(walked.size());
}

/// A whole number of positions whose values fit the registers of a thread, and whose segments the
/// shared memory of a block.
int PassWriter::run_of_kept() const {
  int kept = 0, loaded = 0;
  for (const NodeId each : kept_) kept += register_bytes(node(each));
  for (const PlanNode& each : pass_.nodes) {
    if (each.kind == Kind::Load) loaded += register_bytes(each);
  }
  int run = kLongestRun;
  if (loaded * run > kMostKeptBytes || descriptors_walked() > kMostLongWindows) run /= 2;
  while (run > 1 && run * kept > kMostKeptBytes) run /= 2;
  return run;
}

std::string PassWriter::kept_type() const {
  if (!code_.running) return {};
  std::string text = "  struct Kept {\n";
  for (const NodeId each : kept_) {
    text += fmt::format("    {} {};\n", type_text(node(each).type), value_name(each));
  }
  return text + "  };\n";
}

void PassWriter::write_kept() {
  for (const NodeId each : kept_) line(fmt::format("kept.{0} = {0};", value_name(each)));
}

void PassWriter::write_known() {
  for (const NodeId each : kept_) {
    line(fmt::format("[[maybe_unused]] const {0} {1} = kept.{1};", type_text(node(each).type),
                     value_name(each)));
  }
  for (const NodeId each : repeated_) write_node(each, Mode::Visit);
}

std::string PassWriter::evaluate_function() {
  if (!code_.running) return {};
  begin_segments();
  std::vector<bool> early(pass_.nodes.size());
  for (NodeId k = 0; k < early.size(); ++k) early[k] = !is_late(k);
  write_nodes(early, Mode::Visit);
  write_sinks(false);
  add_to_folds(true);
  write_kept();
  return fmt::format(
      "  KERNEL_FN void evaluate([[maybe_unused]] std::int64_t i, [[maybe_unused]] Cursors& at,\n"
      "                          [[maybe_unused]] const Shared& shared,\n"
      "                          [[maybe_unused]] const Loaded& loaded,\n"
      "                          [[maybe_unused]] Stored& stored, State& state,\n"
      "                          [[maybe_unused]] Kept& kept) const {{\n{}  }}\n",
      take_body(Mode::Visit));
}

std::string PassWriter::finish_function() {
  if (!code_.running) return {};
  begin_segments();
  write_known();
  std::vector<bool> late(pass_.nodes.size());
  for (NodeId k = 0; k < late.size(); ++k) late[k] = is_late(k);
  write_nodes(late, Mode::Visit);
  write_sinks(true);
  add_to_folds(false);
  write_segment_ends();
  return fmt::format(
      "  KERNEL_FN void finish([[maybe_unused]] std::int64_t i, [[maybe_unused]] Cursors& at,\n"
      "                        [[maybe_unused]] const Shared& shared,\n"
      "                        [[maybe_unused]] Gathered& gathered,\n"
      "                        [[maybe_unused]] Stored& stored,\n"
      "                        [[maybe_unused]] const State& before, State& state,\n"
      "                        [[maybe_unused]] const Kept& kept) const {{\n{}  }}\n",
      take_body(Mode::Visit));
}

std::string PassWriter::count_function() {
  if (!code_.counted) return {};
  begin_segments();
  write_nodes(needed(pass_, roots_of_folds()), Mode::Count);
  add_to_folds(true);
  return fmt::format(
      "  KERNEL_FN void count([[maybe_unused]] std::int64_t i, [[maybe_unused]] Cursors& at,\n"
      "                       [[maybe_unused]] const Shared& shared, State& state) const {{\n{}  "
      "}}\n",
      take_body(Mode::Count));
}

}  // namespace cvl::cuda::codegen
