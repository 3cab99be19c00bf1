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
    if (node.kind != Kind::Gather) return read(number);
    JoinedRead::Part part;
    part.gather = number;
    if (node.args[0] != result_.index) {
      const PlanNode& difference = pass_.nodes[node.args[0]];
      if (!difference.applies(Op::Subtract) || difference.args[0] != result_.index ||
          !is_uniform(difference.args[1]))
        return false;
      part.offset = difference.args[1];
    }
    result_.parts.push_back(part);
    return true;
  }

  const PlanPass& pass_;
  JoinedRead result_;
};

}  // namespace

void place_runs(CpuBackend& cpu, const BoundJoin& join, const RunTable& runs, PlacedRuns& placed) {
  placed.count = runs.count;
  placed.ends = runs.ends;
  if (cpu.kernels().joined_places(placed.places, runs.positions, runs.ends, runs.count,
                                  join.vectors.data(),
                                  static_cast<std::int64_t>(join.vectors.size()), join.shift)) {
    return;
  }
  placed.count = 0;
  placed.ends = placed.cut;
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < runs.count; ++k) {
    std::int64_t position = runs.positions[k];
    const JoinedVector* vector = join.vectors.data();
    while (i < runs.ends[k]) {
      while (position >= vector->end) ++vector;
      const std::int64_t length = std::min(runs.ends[k] - i, vector->end - position);
      placed.places[placed.count] =
          vector->start + (static_cast<std::uintptr_t>(position) << join.shift);
      i += length;
      placed.cut[placed.count++] = i;
      position += length;
    }
  }
}

const std::byte* place_of(const BoundJoin& join, std::int64_t position) {
  const JoinedVector* vector = join.vectors.data();
  while (position >= vector->end) ++vector;
  return reinterpret_cast<const std::byte*>(vector->start +
                                            (static_cast<std::uintptr_t>(position) << join.shift));
}

std::optional<JoinedRead> find_joined_read(const PlanPass& pass, NodeId node) {
  JoinReader reader(pass);
  if (!reader.read(node)) return std::nullopt;
  return reader.take();
}

}  // namespace cvl::cpu
