// What becomes of the values at a position.

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {

void PassWriter::write_sink(std::uint32_t number) {
  const PlanSink& sink = pass_.sinks[number];
  const auto value = [&] { return value_name(sink.values[0]); };
  const auto failure = [&] {
    const NodeId blamed = sink.index == kNone ? sink.values[0] : sink.index;
    return fail(sink.binding, sites_.of_sink(number_, number), value_name(blamed), "0");
  };
  switch (sink.kind) {
    case PlanSink::Kind::Store:
      line(fmt::format("{} = {};", stored(sink.arrays[0], is_late(sink)), value()));
      break;
    case PlanSink::Kind::Assert:
      line(fmt::format("if ({} == 0) {}", value(), failure()));
      break;
    case PlanSink::Kind::Size:
      line(fmt::format("if ({} < 0) {}", value(), failure()));
      line(fmt::format("{} = {};", count(count_of_sink_[number]), value()));
      break;
    case PlanSink::Kind::Segments:
      line(fmt::format("if ({} < 0) {}", value(), failure()));
      line(fmt::format("{0}[i] = {1} < 0 ? Int{{0}} : {1};", lengths(sink.segdes[0]), value()));
      break;
    case PlanSink::Kind::Scatter:
      write_scatter(sink, number);
      break;
    case PlanSink::Kind::Iterate:
      write_iteration(sink);
      break;
    case PlanSink::Kind::Filter:
    case PlanSink::Kind::Split:
      write_selection(sink);
      break;
    case PlanSink::Kind::Reduce:
      break;  // a fold
  }
}

void PassWriter::write_scatter(const PlanSink& sink, std::uint32_t number) {
  const std::string index = value_name(sink.index);
  std::string start = "0", limit = size(sink.into_length);
  if (sink.under != kNone) {
    const std::string segment = own(sink.under) + ".segment";
    start = fmt::format("{}.start({})", descriptor(sink.into), segment);
    limit = fmt::format("{}.length({})", descriptor(sink.into), segment);
  }
  const std::string flag =
      sink.flag == kNone ? "" : fmt::format("if ({} != 0) ", value_name(sink.flag));
  line(fmt::format("{}{{", flag));
  line(fmt::format("  const std::int64_t limit = {};", limit));
  line(fmt::format("  if ({0} >= 0 && {0} < limit) claim({1}, {2} + {0}, i, control.tag);", index,
                   winners(number), start));
  line(fmt::format("  else {}",
                   fail(sink.binding, sites_.of_sink(number_, number), index, "limit")));
  line("}");
  for (std::uint32_t k = 0; k < sink.values.size(); ++k) {
    if (!node(sink.values[k]).after_scan) continue;
    line(fmt::format("{}[i] = {};", kept(number, k), value_name(sink.values[k])));
  }
}

void PassWriter::write_selection(const PlanSink& sink) {
  const auto which = static_cast<std::size_t>(&sink - pass_.sinks.data());
  const std::size_t components = sink.values.size();
  for (std::int64_t number = 0; number < sink.classes; ++number) {
    const std::string chosen = sink.kind == PlanSink::Kind::Filter
                                   ? fmt::format("{} != 0", value_name(sink.flag))
                                   : fmt::format("{} == {}", value_name(sink.flag), number);
    const std::string fold = fmt::format("f{}.value", fold_of_selection_[which] + number);
    for (std::size_t k = 0; k < components; ++k) {
      const ArrayId array = sink.arrays[static_cast<std::size_t>(number) * components + k];
      if (array == kNone) continue;
      const std::string out = target(array);
      std::string place = fmt::format("{}[state.{}]", out, fold);
      if (is_gathered(kernel_.arrays[array].type)) {
        gathered_.push_back({array, fold});
        place = fmt::format("gathered.{0}[state.{1} - before.{1}]", out, fold);
      }
      line(fmt::format("if ({}) {} = {};", chosen, place, value_name(sink.values[k])));
    }
  }
}

/// Is there room in shared memory, beside windows of segments, for selected elements of one more
/// array? Written straight to their places, elements of neighbouring threads would lie some places
/// apart.
bool PassWriter::is_gathered(vcode::Type type) const {
  const auto bytes = [](vcode::Type each) { return each == vcode::Type::Bool ? 1 : 8; };
  int taken = bytes(type);
  for (const GatheredArray& each : gathered_) taken += bytes(kernel_.arrays[each.array].type);
  const int windows = descriptors_walked() * static_cast<int>(sizeof(std::uint16_t));
  return taken <= kMostGatheredBytes &&
         (taken + windows) * code_.threads * code_.run <= kMostSharedBytes;
}

std::string PassWriter::move_function() const {
  if (gathered_.empty()) return {};
  std::string arrays;
  for (const GatheredArray& each : gathered_) {
    arrays += fmt::format("    {} {}[kTile];\n", type_text(kernel_.arrays[each.array].type),
                          target_name(each.array));
  }
  std::string text = fmt::format(
      "  static constexpr bool kGathers = true;\n"
      "  struct Gathered {{\n{}  }};\n"
      "  KERNEL_FN void move_selected(const Gathered& gathered, const State& before,\n"
      "                               const State& total, int thread) const {{\n",
      arrays);
  for (const GatheredArray& each : gathered_) {
    text += fmt::format(
        "    for (int k = thread; k < total.{1}; k += kBlockThreads) {0}[before.{1} + k] = "
        "gathered.{0}[k];\n",
        target_name(each.array), each.fold);
  }
  return text + "  }\n";
}

}  // namespace cvl::cuda::codegen
