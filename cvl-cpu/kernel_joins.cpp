#include "cvl-cpu/kernel_joins.hpp"

#include <algorithm>
#include <utility>

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;

class JoinReader {
 public:
  explicit JoinReader(const PlanPass& pass) : pass_(pass) {}

  bool read(NodeId number) {
    const PlanNode& choice = pass_.nodes[number];
    if (!choice.applies(Op::Select)) return false;
    const PlanNode& test = pass_.nodes[choice.args[0]];
    if (!test.applies(Op::Less) || test.written != Type::Int || !is_uniform(test.args[1]))
      return false;
    if (result_.index == kNone) result_.index = test.args[0];
    if (result_.index != test.args[0]) return false;
    if (!read_part(choice.args[1])) return false;
    result_.parts.back().end = test.args[1];
    return read_part(choice.args[2]);
  }
  JoinedRead take() { return std::move(result_); }

 private:
  bool is_uniform(NodeId number) const { return pass_.nodes[number].uniform; }

  bool read_part(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    JoinedRead::Part part;
    part.read = number;
    if (is_uniform(number)) {
      part.fills = true;
    } else if (node.kind != Kind::Gather) {
      return read(number);
    } else if (!read_shifts(node.args[0], part.shifts)) {
      return false;
    }
    result_.parts.push_back(std::move(part));
    return true;
  }

  /// What is between a place and the index.
  bool read_shifts(NodeId place, std::vector<JoinedRead::Shift>& shifts) const {
    while (place != result_.index) {
      const PlanNode& node = pass_.nodes[place];
      const bool minus = node.applies(Op::Subtract);
      if (!minus && !node.applies(Op::Add)) return false;
      const bool behind = is_uniform(node.args[1]);
      if (!behind && (minus || !is_uniform(node.args[0]))) return false;
      shifts.push_back({node.args[behind ? 1 : 0], minus});
      place = node.args[behind ? 0 : 1];
    }
    return true;
  }

  const PlanPass& pass_;
  JoinedRead result_;
};

}  // namespace

bool JoinedRead::has_fills() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.fills; });
}

void place_runs(CpuBackend& cpu, const BoundJoin& join, const RunTable& runs, PlacedRuns& placed) {
  placed.count = runs.count;
  placed.ends = runs.ends;
  const bool any_fills = std::find(join.fills.begin(), join.fills.end(), true) != join.fills.end();
  if (!any_fills && cpu.kernels().joined_places(
                        placed.places, runs.positions, runs.ends, runs.count, join.vectors.data(),
                        static_cast<std::int64_t>(join.vectors.size()), join.shift)) {
    return;
  }
  placed.count = 0;
  placed.ends = placed.cut;
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < runs.count; ++k) {
    std::int64_t position = runs.positions[k];
    std::size_t part = 0;
    while (i < runs.ends[k]) {
      while (position >= join.vectors[part].end) ++part;
      const std::int64_t length = std::min(runs.ends[k] - i, join.vectors[part].end - position);
      placed.places[placed.count] = join.place(part, position);
      i += length;
      placed.cut[placed.count++] = i;
      position += length;
    }
  }
}

const std::byte* place_of(const BoundJoin& join, std::int64_t position) {
  std::size_t part = 0;
  while (position >= join.vectors[part].end) ++part;
  return reinterpret_cast<const std::byte*>(join.place(part, position));
}

std::optional<JoinedRead> find_joined_read(const PlanPass& pass, NodeId node) {
  JoinReader reader(pass);
  if (!reader.read(node)) return std::nullopt;
  JoinedRead read = reader.take();
  const bool gathers = std::any_of(read.parts.begin(), read.parts.end(),
                                   [](const JoinedRead::Part& part) { return !part.fills; });
  return gathers ? std::optional(std::move(read)) : std::nullopt;
}

}  // namespace cvl::cpu
