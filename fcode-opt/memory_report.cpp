#include "fcode-opt/memory_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "cvl/kernel_plan.hpp"
#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/fusion/lifetimes.hpp"
#include "fcode-opt/fusion/memory.hpp"
#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

// Vectors up to this length lie in the value itself.
constexpr std::int64_t kFewNumbers = 2;

/// Names for unknown lengths, in the order in which they come up.
class Names {
 public:
  std::string text(const Linear& length) {
    std::string text;
    for (const auto& [atom, factor] : length.terms) {
      const auto [place, added] = numbers_.try_emplace(atom, numbers_.size() + 1);
      if (!text.empty()) text += factor < 0 ? " - " : " + ";
      if (text.empty() && factor < 0) text += "-";
      const std::int64_t size = factor < 0 ? -factor : factor;
      text += size == 1 ? fmt::format("n{}", place->second)
                        : fmt::format("{} n{}", size, place->second);
    }
    if (text.empty()) return std::to_string(length.constant);
    if (length.constant > 0) text += fmt::format(" + {}", length.constant);
    if (length.constant < 0) text += fmt::format(" - {}", -length.constant);
    return text;
  }

 private:
  std::map<Atom, std::size_t> numbers_;
};

std::string name_of(const Statement& statement, const Module& module) {
  if (statement.kind == Statement::Kind::Run) {
    return fmt::format("kernel {}", module.kernels[statement.index].name);
  }
  return std::string(vcode::info(statement.op).text);
}

/// The vectors of one region.
class RegionMemory {
 public:
  RegionMemory(const Module& module, const Function& function, Shapes& shapes, const Block& block,
               std::size_t begin, std::size_t end, std::vector<bool> survives,
               const std::vector<bool>& before, std::map<ValueId, Linear>& lengths)
      : module_(module),
        function_(function),
        shapes_(shapes),
        block_(block),
        begin_(begin),
        end_(end),
        survives_(std::move(survives)),
        last_(function.values.size(), end),
        lengths_(lengths) {
    for (std::size_t i = begin; i < end; ++i) {
      for (const ValueId operand : block.statements[i].operands) last_[operand] = i;
      for (const ValueId result : block.statements[i].results) inside_.insert(result);
    }
    for (ValueId value = 0; value < before.size(); ++value) {
      const bool used = survives_[value] || last_[value] < end;
      if (before[value] && used && inside_.count(value) == 0) hold(value);
    }
  }

  MemoryReport::Region run() {
    std::set<ValueId> most;
    std::size_t peak = begin_;
    std::int64_t peak_size = -1;
    for (std::size_t i = begin_; i < end_; ++i) {
      const Statement& statement = block_.statements[i];
      std::set<ValueId> given_up;
      if (statement.kind == Statement::Kind::Run) {
        note_lengths(statement);
        given_up = place(statement, i);
      }
      for (const ValueId value : given_up) held_.erase(value);
      for (const ValueId result : statement.results) hold(result);
      if (const std::int64_t size = assumed_size(); size > peak_size) {
        most = held_;
        peak = i;
        peak_size = size;
      }
      release(statement, i);
    }
    describe(most, peak);
    return std::move(region_);
  }

 private:
  void hold(ValueId value) {
    const std::optional<Type> type = function_.values[value].type;
    if (!type || *type == Type::Pair) return;
    const Linear length = length_of(value);
    if (length.is_number() && length.constant <= kFewNumbers) return;
    if (is_formula(value)) return;
    held_.insert(value);
  }

  bool is_formula(ValueId value) {
    const Definition* made = shapes_.definition(value);
    if (made == nullptr) return false;
    return made->is_const() || made->is(Op::Index) ||
           (made->is(Op::Distribute) && shapes_.uniform(value));
  }

  Linear length_of(ValueId value) {
    const auto known = lengths_.find(value);
    return shapes_.equations.normal(known != lengths_.end() ? known->second
                                                            : shapes_.of(value).length);
  }

  // What the kernel says of the lengths of its results.
  void note_lengths(const Statement& run) {
    const vcode::Kernel& kernel = module_.kernels[run.index];
    std::map<vcode::SizeId, Linear> sizes;
    for (vcode::SizeId size = 0; size < kernel.sizes.size(); ++size) {
      if (const auto literal = kernel.sizes[size].literal) sizes[size] = Linear::number(*literal);
    }
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
      const Linear length = length_of(run.operands[i]);
      sizes.try_emplace(size_of(kernel, kernel.inputs[i]), length);
    }
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      const auto size = sizes.find(size_of(kernel, kernel.outputs[i]));
      if (size != sizes.end()) lengths_[run.results[i]] = size->second;
    }
  }

  // Of a vector its elements, of a descriptor its segments.
  static vcode::SizeId size_of(const vcode::Kernel& kernel, vcode::KernelParameter parameter) {
    return parameter.segdes ? kernel.segdes[parameter.id].count
                            : kernel.arrays[parameter.id].length;
  }

  bool ends(ValueId value, std::size_t at) const { return !survives_[value] && last_[value] == at; }

  void release(const Statement& statement, std::size_t at) {
    for (const ValueId operand : statement.operands) {
      if (ends(operand, at)) held_.erase(operand);
    }
    for (const ValueId result : statement.results) {
      if (!survives_[result] && last_[result] == end_) held_.erase(result);
    }
  }

  std::int64_t assumed_size() {
    std::int64_t bytes = 0;
    for (const ValueId value : held_) {
      const std::int64_t width = stored_bytes(*function_.values[value].type, {});
      const Linear length = length_of(value);
      std::int64_t elements = length.constant;
      for (const auto& [atom, factor] : length.terms) elements += factor * kAssumedLength;
      bytes += std::max<std::int64_t>(elements, 0) * width;
    }
    return bytes;
  }

  // Where the results of a kernel go. Gives the operands whose storage they take over.
  std::set<ValueId> place(const Statement& run, std::size_t at) {
    std::set<ValueId> given_up;
    const vcode::Kernel& kernel = module_.kernels[run.index];
    const auto plan = cvl::plan_kernel(kernel);
    if (!plan) return given_up;
    for (std::size_t k = 0; k < kernel.outputs.size(); ++k) {
      const vcode::KernelParameter& output = kernel.outputs[k];
      const Linear length = length_of(run.results[k]);
      if (output.segdes || (length.is_number() && length.constant <= kFewNumbers)) continue;
      MemoryReport::Placed placed;
      placed.kernel = kernel.name;
      placed.result = kernel.arrays[output.id].name;
      placed.origin = run.origin;
      find_place(run, at, kernel, candidates(*plan, output.id), output.id, given_up, placed);
      region_.placed.push_back(std::move(placed));
    }
    return given_up;
  }

  static std::vector<vcode::ArrayId> candidates(const cvl::KernelPlan& plan, vcode::ArrayId array) {
    for (const cvl::PlanPass& pass : plan.passes) {
      for (const cvl::PlanSink& sink : pass.sinks) {
        if (sink.kind == cvl::PlanSink::Kind::Store && sink.arrays[0] == array) return sink.over;
        if (const auto first = appended_to(pass, sink, array)) return {*first};
      }
    }
    return {};
  }

  // The vector that a result begins with, to which something is going to be appended.
  static std::optional<vcode::ArrayId> appended_to(const cvl::PlanPass& pass,
                                                   const cvl::PlanSink& sink,
                                                   vcode::ArrayId array) {
    using cvl::PlanNode;
    const bool counts_up = sink.kind == cvl::PlanSink::Kind::Scatter && sink.zeroed &&
                           sink.under == cvl::kNone && sink.flag == cvl::kNone &&
                           pass.nodes[sink.index].kind == PlanNode::Kind::Position;
    const auto own = std::find(sink.arrays.begin(), sink.arrays.end(), array);
    if (!counts_up || own == sink.arrays.end()) return std::nullopt;
    const PlanNode& value =
        pass.nodes[sink.values[static_cast<std::size_t>(own - sink.arrays.begin())]];
    if (value.kind != PlanNode::Kind::Load) return std::nullopt;
    return value.id;
  }

  void find_place(const Statement& run, std::size_t at, const vcode::Kernel& kernel,
                  const std::vector<vcode::ArrayId>& over, vcode::ArrayId result,
                  std::set<ValueId>& given_up, MemoryReport::Placed& placed) const {
    const vcode::KernelArray& made = kernel.arrays[result];
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
      const vcode::KernelParameter& input = kernel.inputs[i];
      if (input.segdes) continue;
      const vcode::KernelArray& operand = kernel.arrays[input.id];
      const ValueId value = run.operands[i];
      const bool possible = std::find(over.begin(), over.end(), input.id) != over.end();
      if (!possible && (operand.type != made.type || operand.length != made.length)) continue;
      if (possible && ends(value, at) && held_.count(value) != 0 && given_up.count(value) == 0) {
        given_up.insert(value);
        placed.over = operand.name;
        return;
      }
      if (!placed.why.empty()) placed.why += "; ";
      placed.why += operand.name;
      if (!possible) {
        placed.why += " is read elsewhere than where the result is written, or later";
      } else if (!ends(value, at)) {
        placed.why += " is still read behind the kernel";
      } else {
        placed.why += given_up.count(value) != 0 ? " is taken over by another result"
                                                 : " takes no memory of its own";
      }
    }
    if (placed.why.empty()) placed.why = "no operand has its type and length";
  }

  void describe(const std::set<ValueId>& most, std::size_t peak) {
    const Statement& at = block_.statements[peak];
    region_.origin = block_.statements[begin_].origin;
    region_.at = name_of(at, module_);
    region_.at_origin = at.origin;
    Linear total;
    for (const ValueId value : most) {
      MemoryReport::Held held;
      held.size = names_.text(length_of(value));
      total = total + length_of(value);
      held.type = *function_.values[value].type;
      held.origin = function_.values[value].origin;
      held.read_later = survives_[value];
      if (!held.read_later && last_[value] < end_) {
        const Statement& reader = block_.statements[last_[value]];
        held.reader = name_of(reader, module_);
        held.reader_origin = reader.origin;
      }
      region_.held.push_back(std::move(held));
    }
    region_.total = names_.text(total);
  }

  const Module& module_;
  const Function& function_;
  Shapes& shapes_;
  const Block& block_;
  std::size_t begin_, end_;
  std::vector<bool> survives_;
  std::vector<std::size_t> last_;       // statement that reads a value last; end_: none does
  std::map<ValueId, Linear>& lengths_;  // of what kernels have made
  std::set<ValueId> inside_;
  std::set<ValueId> held_;
  Names names_;
  MemoryReport::Region region_;
};

class FunctionMemory : public ShapeVisitor {
 public:
  FunctionMemory(const Module& module, const Function& function, MemoryReport& report)
      : module_(module),
        function_(function),
        report_(report),
        lifetimes_(function),
        before_(function.values.size()) {
    for (const ValueId parameter : function.parameters) before_[parameter] = true;
  }

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    for (std::size_t i = 0; i < begin; ++i) note(block.statements[i]);
    if (begin < end) {
      MemoryReport::Region region =
          RegionMemory(module_, function_, shapes, block, begin, end,
                       lifetimes_.read_behind(block, end), before_, lengths_)
              .run();
      if (!region.held.empty()) report_.regions.push_back(std::move(region));
    }
    for (std::size_t i = begin; i < end; ++i) note(block.statements[i]);
  }

 private:
  void note(const Statement& statement) {
    for (const ValueId result : statement.results) before_[result] = true;
  }

  const Module& module_;
  const Function& function_;
  MemoryReport& report_;
  Lifetimes lifetimes_;
  std::vector<bool> before_;  // values that there are
  std::map<ValueId, Linear> lengths_;
};

}  // namespace

MemoryReport memory_report(Module& module) {
  KnownWalks walks;
  ShapeAnalysis shapes(module, ShapeAnalysis::Trust::Regions, walks);
  MemoryReport report;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    FunctionMemory visitor(module, module.functions[i], report);
    shapes.walk(i, visitor);
  }
  return report;
}

}  // namespace fcode
