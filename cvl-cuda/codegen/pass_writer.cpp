// Members, nodes and functions of the struct of a pass.

#include "cvl-cuda/codegen/pass_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"

namespace cvl::cuda::codegen {
namespace {

using Kind = PlanNode::Kind;

}  // namespace

PassWriter::PassWriter(const KernelPlan& plan, std::uint32_t number, const FaultSites& sites)
    : plan_(plan),
      kernel_(*plan.kernel),
      pass_(plan.passes[number]),
      number_(number),
      sites_(sites),
      fold_of_scan_(pass_.nodes.size(), -1),
      fold_of_selection_(pass_.sinks.size(), -1),
      count_of_sink_(pass_.sinks.size(), -1) {
  find_folds();
  find_running();
  if (code_.running) find_kept();
}

// --- Members ---

void PassWriter::member(Member member) {
  const auto& known = code_.members;
  if (std::find(known.begin(), known.end(), member) == known.end()) code_.members.push_back(member);
}

std::string PassWriter::source(ArrayId array) {
  member({Member::Kind::Source, array, 0, kernel_.arrays[array].type});
  return array_name(array);
}
std::string PassWriter::target(ArrayId array) {
  member({Member::Kind::Target, array, 0, kernel_.arrays[array].type});
  return target_name(array);
}
std::string PassWriter::descriptor(SegdesId segdes) {
  member({Member::Kind::Descriptor, segdes});
  return segdes_name(segdes);
}
std::string PassWriter::size(SizeId size) {
  const SizeId id = plan_.canonical_size[size];
  if (const auto& literal = kernel_.sizes[id].literal) return fmt::format("{}LL", *literal);
  member({Member::Kind::Size, id});
  return fmt::format("n{}", id);
}
std::string PassWriter::random(std::uint32_t draw) {
  member({Member::Kind::Random, draw});
  return fmt::format("random{}", draw);
}
std::string PassWriter::lengths(SegdesId segdes) {
  member({Member::Kind::Lengths, segdes});
  return lengths_name(segdes);
}
std::string PassWriter::winners(std::uint32_t sink) {
  member({Member::Kind::Winners, sink});
  return fmt::format("winners{}", sink);
}
std::string PassWriter::kept(std::uint32_t sink, std::uint32_t value) {
  const vcode::Type type = node(pass_.sinks[sink].values[value]).type;
  member({Member::Kind::Kept, sink, value, type});
  return fmt::format("kept{}_{}", sink, value);
}
std::string PassWriter::count(int number) {
  member({Member::Kind::Counts});
  return fmt::format("counts[{}]", number);
}

std::string PassWriter::declaration(const Member& member) const {
  const std::string type = type_text(member.type);
  switch (member.kind) {
    case Member::Kind::Source:
      return fmt::format("Source<{}> {};", type, array_name(member.id));
    case Member::Kind::Target:
      return fmt::format("Array<{}> {};", type, target_name(member.id));
    case Member::Kind::Descriptor:
      return fmt::format("Segments {};", segdes_name(member.id));
    case Member::Kind::Size:
      return fmt::format("std::int64_t n{};", member.id);
    case Member::Kind::Random:
      return fmt::format("RandomState random{};", member.id);
    case Member::Kind::Lengths:
      return fmt::format("Array<Int> {};", lengths_name(member.id));
    case Member::Kind::Winners:
      return fmt::format("Array<std::uint64_t> winners{};", member.id);
    case Member::Kind::Kept:
      return fmt::format("Array<{}> kept{}_{};", type, member.id, member.value);
    case Member::Kind::Counts:
      break;
  }
  return "Array<std::int64_t> counts;";
}

// --- Nodes ---

void PassWriter::line(const std::string& text) {
  body_ += fmt::format("    {}\n", text);
}

std::string PassWriter::take_body(Mode mode) {
  std::string moves;
  std::swap(moves, body_);
  write_cursor_steps(used_, mode);
  if (mode != Mode::Target) windows_.insert(used_.begin(), used_.end());
  used_.clear();
  return std::exchange(body_, {}) + moves;
}

void PassWriter::write_cursor_steps(const std::set<SegdesId>& used, Mode mode) {
  for (const SegdesId segdes : used) {
    const std::string name = segdes_name(segdes);
    line(mode == Mode::Target ? fmt::format("at.{0}.move({0}, i);", name)
                              : fmt::format("at.{0}.step({0}, shared.{0}, i);", name));
  }
}

/// The place of the own segment.
std::string PassWriter::own(SegdesId segdes) {
  descriptor(segdes);
  cursors_.insert(segdes);
  used_.insert(segdes);
  return fmt::format("at.{}", segdes_name(segdes));
}

/// What the roots depend on.
std::vector<bool> PassWriter::needed(const PlanPass& pass, const std::vector<NodeId>& roots) {
  std::vector<bool> wanted(pass.nodes.size());
  for (const NodeId root : roots) {
    if (root != kNone) wanted[root] = true;
  }
  for (std::size_t k = wanted.size(); k-- > 0;) {
    if (!wanted[k]) continue;
    for (const NodeId arg : pass.nodes[k].args) {
      if (arg != kNone) wanted[arg] = true;
    }
    if (pass.nodes[k].guard != kNone) wanted[pass.nodes[k].guard] = true;
  }
  return wanted;
}

void PassWriter::write_nodes(const std::vector<bool>& wanted, Mode mode) {
  for (NodeId k = 0; k < wanted.size(); ++k) {
    if (wanted[k]) write_node(k, mode);
  }
}

void PassWriter::write_node(NodeId number, Mode mode) {
  const PlanNode& own_node = node(number);
  const auto define = [&](const std::string& value) {
    line(fmt::format("[[maybe_unused]] const {} {} = {};", type_text(own_node.type),
                     value_name(number), value));
  };
  const auto as_int = [](const std::string& value) {
    return fmt::format("static_cast<Int>({})", value);
  };
  const std::string arg = own_node.args[0] == kNone ? "" : value_name(own_node.args[0]);
  switch (own_node.kind) {
    case Kind::Constant:
      return define(constant_text(own_node));
    case Kind::Size:
      return define(as_int(size(own_node.id)));
    case Kind::Position:
      return define(as_int("i"));
    case Kind::Load:
      source(own_node.id);
      if (mode != Mode::Visit) return define(array_name(own_node.id) + "[i]");
      loaded_.push_back(number);
      return define("loaded." + value_name(number));
    case Kind::Random:
      return define(fmt::format("random_number({}, i, {})", random(own_node.id), arg));
    case Kind::Apply:
      return write_apply(number, mode);
    case Kind::SegmentNumber:
      return define(as_int(own(own_node.id) + ".segment"));
    case Kind::SegmentOffset:
      return define(as_int(fmt::format("i - {}.start", own(own_node.id))));
    case Kind::Gather: {
      const std::string element = fmt::format("{}[{}]", source(own_node.id), arg);
      if (!own_node.traps) return define(element);
      return write_guarded(number, mode, element, arg, size(kernel_.arrays[own_node.id].length));
    }
    case Kind::FindSegment: {
      const std::string found =
          as_int(fmt::format("segment_at({}, {})", descriptor(own_node.id), arg));
      if (!own_node.traps) return define(found);
      return write_guarded(number, mode, found, arg, segdes_name(own_node.id) + ".total");
    }
    case Kind::SegmentLength:
    case Kind::SegmentStart: {
      const std::string found =
          as_int(fmt::format("{}.{}({})", descriptor(own_node.id),
                             own_node.kind == Kind::SegmentLength ? "length" : "start", arg));
      if (!own_node.traps) return define(found);
      return write_guarded(number, mode, found, arg, segdes_name(own_node.id) + ".count");
    }
    case Kind::State:
      break;  // not in a pass: see write_iteration()
    case Kind::Scan:
      return define(result_of(static_cast<std::size_t>(fold_of_scan_[number]), "state"));
  }
}

/// A value that is there only where the node is wanted and an index fits.
void PassWriter::write_guarded(NodeId number, Mode mode, const std::string& value,
                               const std::string& index, const std::string& limit) {
  const PlanNode& own_node = node(number);
  line(fmt::format("[[maybe_unused]] {0} {1} = {0}{{0}};", type_text(own_node.type),
                   value_name(number)));
  const std::string guard =
      own_node.guard == kNone ? "" : fmt::format("if ({} != 0) ", value_name(own_node.guard));
  line(fmt::format("{}{{", guard));
  line(fmt::format("  if ({0} >= 0 && {0} < {1}) {2} = {3};", index, limit, value_name(number),
                   value));
  if (mode == Mode::Visit) {
    line(fmt::format("  else {}",
                     fail(own_node.binding, sites_.of_node(number_, number), index, limit)));
  }
  line("}");
}

void PassWriter::write_apply(NodeId number, Mode mode) {
  const PlanNode& own_node = node(number);
  line(fmt::format("[[maybe_unused]] const {} {} = {};", type_text(own_node.type),
                   value_name(number), apply_text(own_node, value_name)));
  if (!own_node.traps || mode != Mode::Visit) return;
  const std::string guard =
      own_node.guard == kNone ? "" : fmt::format("{} != 0 && ", value_name(own_node.guard));
  line(fmt::format("if ({}{}::fails({})) {}", guard, functor_text(own_node.op),
                   arguments_text(own_node, value_name),
                   fail(own_node.binding, sites_.of_node(number_, number), "0", "0")));
}

std::string PassWriter::fail(std::uint32_t binding, int site, const std::string& value,
                             const std::string& limit) const {
  return fmt::format("control.fail({}, {}, i, {}, {});", sites_.rank(binding), site, value, limit);
}

// --- Functions ---

void PassWriter::write_sinks(bool late) {
  for (std::uint32_t k = 0; k < pass_.sinks.size(); ++k) {
    if (is_late(pass_.sinks[k]) == late) write_sink(k);
  }
}

std::string PassWriter::visit_function() {
  if (code_.running) return {};
  write_nodes(std::vector<bool>(pass_.nodes.size(), true), Mode::Visit);
  write_sinks(false);
  add_to_folds(true);
  return fmt::format(
      "  KERNEL_FN void visit([[maybe_unused]] std::int64_t i, [[maybe_unused]] Cursors& at,\n"
      "                       [[maybe_unused]] const Shared& shared,\n"
      "                       [[maybe_unused]] const Loaded& loaded, [[maybe_unused]] Stored& "
      "stored,\n"
      "                       [[maybe_unused]] State& state) const {{\n{}  }}\n",
      take_body(Mode::Visit));
}

std::string PassWriter::conclude_function() {
  if (folds_.empty()) return {};
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    if (folds_[k].concluded.empty()) continue;
    line(fmt::format("{} = {};", folds_[k].concluded, result_of(k, "total")));
  }
  return fmt::format(
      "  KERNEL_FN void conclude([[maybe_unused]] const State& total) const {{\n{}  }}\n",
      take_body(Mode::Visit));
}

std::string PassWriter::other_function() {
  if (!code_.others) return {};
  for (const Fold& fold : folds_) {
    if (fold.at_segment_end.empty()) continue;
    line(fmt::format("if (place < {0}.count && {0}.length(place) == 0) {1}[place] = {2};",
                     descriptor(fold.under), fold.at_segment_end, fold.of_nothing));
  }
  return fmt::format("  KERNEL_FN void other(std::int64_t place) const {{\n{}  }}\n",
                     take_body(Mode::Visit));
}

std::string PassWriter::target_function() {
  if (!code_.targets) return {};
  std::string text = "  KERNEL_FN void target(std::int64_t place) const {\n";
  for (std::uint32_t number = 0; number < pass_.sinks.size(); ++number) {
    const PlanSink& sink = pass_.sinks[number];
    if (sink.kind != PlanSink::Kind::Scatter) continue;
    std::vector<NodeId> roots;
    for (const NodeId value : sink.values) {
      if (!node(value).after_scan) roots.push_back(value);
    }
    write_nodes(needed(pass_, roots), Mode::Target);
    for (std::uint32_t k = 0; k < sink.values.size(); ++k) {
      const NodeId value = sink.values[k];
      line(fmt::format("{}[place] = {};", target(sink.arrays[k]),
                       node(value).after_scan ? kept(number, k) + "[i]" : value_name(value)));
    }
    const std::string found = take_body(Mode::Target);
    text += fmt::format(
        "    if (const std::int64_t i = winner_of(place, {}, winners{}, control.tag); i >= 0) {{\n"
        "    [[maybe_unused]] Cursors at;\n{}",
        size(sink.into_length), number, found);
    if (sink.zeroed) {
      text += fmt::format("    }} else if (place < {}) {{\n", size(sink.into_length));
      for (std::uint32_t k = 0; k < sink.values.size(); ++k) {
        text += fmt::format("    {}[place] = 0;\n", target_name(sink.arrays[k]));
      }
    }
    text += "    }\n";
  }
  return text + "  }\n";
}

PassCode PassWriter::write() {
  code_.states = states();
  code_.threads = threads_for(states());
  code_.run = code_.running ? run_of_kept() : kUsualRun;
  const std::string functions = visit_function() + evaluate_function() + finish_function() +
                                count_function() + conclude_function() + other_function() +
                                target_function();
  const std::string parts =
      moved_part() + loaded_part() + stored_part() + segmented_part() + move_function();
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string members;
  for (const Member& each : code_.members) members += fmt::format("  {}\n", declaration(each));
  code_.text = fmt::format(
      "struct Pass{} : PassParts {{\n"
      "  static constexpr int kThreads = {}, kRun = {};\n"
      "  static constexpr int kBlockThreads = shape::pass_threads(kThreads);\n"
      "  [[maybe_unused]] static constexpr int kTile = kBlockThreads * shape::pass_run(kRun);\n"
      "  [[maybe_unused]] static constexpr bool kFolds = {}, kRunning = {}, kCounted = {};\n"
      "  static constexpr bool kOthers = {}, kTargets = {}, kSegmented = {};\n"
      "{}{}"
      "  PassControl control;\n{}\n{}{}}};\n",
      number_, code_.threads, code_.run, flag(!folds_.empty()), flag(code_.running),
      flag(code_.counted), flag(code_.others), flag(code_.targets), flag(!windows_.empty()),
      state_types(), kept_type(), members, parts, functions);
  return std::move(code_);
}

}  // namespace cvl::cuda::codegen
