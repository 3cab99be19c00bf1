#include "fcode-opt/fusion/fuse.hpp"

#include <algorithm>
#include <utility>

#include "fcode-opt/fusion/canonical.hpp"
#include "fcode-opt/fusion/kernel_writer.hpp"
#include "fcode-opt/fusion/reasons.hpp"
#include "fcode-opt/fusion/schedule.hpp"
#include "fcode-opt/fusion/spec_writer.hpp"
#include "fcode-opt/ir_tools.hpp"
#include "fcode-opt/shapes/analysis.hpp"

namespace fcode {
namespace {

std::uint32_t vector_operations_in(const std::vector<const Statement*>& statements) {
  std::uint32_t count = 0;
  for (const Statement* statement : statements) {
    count += statement->kind == Statement::Kind::Op && vcode::info(statement->op).is_vector_op();
  }
  return count;
}

/// Chooses and writes the kernels of one region.
class RegionFusion {
 public:
  RegionFusion(Module& module, Function& function, Shapes& shapes, KernelPool& pool,
               std::span<const Statement> statements, std::vector<std::uint32_t> outside_uses)
      : module_(module),
        function_(function),
        shapes_(shapes),
        pool_(pool),
        statements_(statements),
        outside_uses_(std::move(outside_uses)),
        native_(statements.size(), false) {}

  /// Statements that do the same; none if nothing is to be fused.
  std::vector<Statement> run(FusionReport::Region& report) {
    // A kernel that saves nothing gives its operations back; then others may change, too.
    do {
      graph_ = build_graph(statements_, module_, function_, shapes_, outside_uses_, native_);
      choice_ = choose_schedule(graph_);
    } while (give_back());
    const bool any = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                 [](const Node& node) { return node.in_kernel(); });
    describe(report);
    std::vector<Statement> result;
    if (!any) return result;
    find_wanted();
    Slot last = 0;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].scheduled()) last = std::max(last, choice_.schedule[i]);
    }
    for (const Node& node : graph_.nodes) {
      if (is_constant(node)) result.push_back(copy_statement(*node.statement));
    }
    for (Slot slot = 0; slot <= last; ++slot) emit(slot, result, report);
    return result;
  }

 private:
  std::vector<NodeIndex> members(Slot slot) const {
    std::vector<NodeIndex> result;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].in_kernel() && choice_.schedule[i] == slot) result.push_back(i);
    }
    return result;
  }

  // Marks the operations of kernels that do not pay. True if there are any.
  bool give_back() {
    bool any = false;
    const auto last = static_cast<Slot>(graph_.nodes.size());
    std::vector<std::vector<NodeIndex>> kernels(last + 1);
    for (NodeIndex i = 0; i < last; ++i) {
      if (graph_.nodes[i].in_kernel()) kernels[choice_.schedule[i]].push_back(i);
    }
    for (const std::vector<NodeIndex>& kernel : kernels) {
      if (kernel.empty() || pays(graph_, kernel)) continue;
      for (NodeIndex i : kernel) native_[i] = true;
      any = true;
    }
    return any;
  }

  // What has to be a value outside of the kernel that computes it.
  void find_wanted() {
    wanted_.assign(outside_uses_.size(), false);
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      for (ValueId value : node.statement->results) {
        if (outside_uses_[value] != 0) wanted_[value] = true;
      }
      if (!node.scheduled()) continue;
      for (const Read& read : node.reads) {
        if (read.producer == kOutside) continue;
        const Node& producer = graph_.nodes[read.producer];
        const bool together = choice_.schedule[read.producer] == choice_.schedule[i] &&
                              node.in_kernel() && producer.in_kernel();
        if (!together) wanted_[read.value] = true;
      }
    }
  }

  void emit(Slot slot, std::vector<Statement>& result, FusionReport::Region& report) {
    const std::vector<NodeIndex> kernel = members(slot);
    if (!kernel.empty()) {
      WrittenKernel written =
          write_kernel(graph_, kernel, wanted_, function_, module_, shapes_);
      write_spec(graph_, kernel, function_, module_, shapes_, written);
      const Statement& first = *graph_.nodes[kernel[0]].statement;
      Statement run;
      run.kind = Statement::Kind::Run;
      run.index = pool_.add(std::move(written.kernel), function_, first.origin);
      run.checks = has_checks(module_.kernels[run.index]);
      run.operands = std::move(written.operands);
      run.results = std::move(written.results);
      run.origin = first.origin;
      report.kernels.push_back(
          {run.index, first.origin, static_cast<std::uint32_t>(kernel.size())});
      result.push_back(std::move(run));
    }
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!node.scheduled() || node.in_kernel() || is_constant(node)) continue;
      if (choice_.schedule[i] != slot) continue;
      result.push_back(copy_statement(*node.statement));
    }
  }

  static bool is_constant(const Node& node) {
    return node.scheduled() && pushes_constant(*node.statement);
  }

  // Statements of a region have no blocks.
  static Statement copy_statement(const Statement& statement) {
    Statement copy;
    copy.kind = statement.kind;
    copy.op = statement.op;
    copy.written = statement.written;
    copy.index = statement.index;
    copy.checks = statement.checks;
    copy.operands = statement.operands;
    copy.results = statement.results;
    copy.origin = statement.origin;
    return copy;
  }

  void describe(FusionReport::Region& report) {
    std::vector<const Statement*> all, kept;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      all.push_back(node.statement);
      if (!node.scheduled() || node.in_kernel()) continue;
      kept.push_back(node.statement);
      if (!pushes_constant(*node.statement)) {
        report.unfused.push_back({why_not(graph_, i, native_[i]), node.statement->origin});
      }
    }
    report.function = function_.name;
    report.origin = statements_[0].origin;
    report.operations = vector_operations_in(all);
    report.instructions = vector_operations_in(kept);
    report.cost = choice_.cost;
    report.exact = choice_.exact;
  }

  Module& module_;
  Function& function_;
  Shapes& shapes_;
  KernelPool& pool_;
  std::span<const Statement> statements_;
  std::vector<std::uint32_t> outside_uses_;
  std::vector<bool> native_;
  RegionGraph graph_;
  Choice choice_;
  std::vector<bool> wanted_;
};

class FunctionFusion : public ShapeVisitor {
 public:
  FunctionFusion(Module& module, Function& function, KernelPool& pool, FusionReport& report)
      : module_(module),
        function_(function),
        pool_(pool),
        report_(report),
        uses_(count_uses(function)) {}

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    std::vector<std::uint32_t> outside = uses_;
    for (std::size_t i = begin; i < end; ++i) {
      for (ValueId operand : block.statements[i].operands) --outside[operand];
    }
    const std::span<const Statement> statements(block.statements.data() + begin, end - begin);
    FusionReport::Region region;
    std::vector<Statement> fused =
        RegionFusion(module_, function_, shapes, pool_, statements, std::move(outside)).run(region);
    if (region.operations > 0) report_.regions.push_back(std::move(region));
    if (fused.empty()) return;
    const std::size_t size = fused.size();
    const auto first = block.statements.begin() + static_cast<std::ptrdiff_t>(begin);
    block.statements.erase(first, block.statements.begin() + static_cast<std::ptrdiff_t>(end));
    block.statements.insert(block.statements.begin() + static_cast<std::ptrdiff_t>(begin),
                            std::make_move_iterator(fused.begin()),
                            std::make_move_iterator(fused.end()));
    end = begin + size;
  }

 private:
  Module& module_;
  Function& function_;
  KernelPool& pool_;
  FusionReport& report_;
  std::vector<std::uint32_t> uses_;  // before anything was replaced; regions are replaced in order
};

}  // namespace

FusionReport fuse(Module& module) {
  ShapeAnalysis shapes(module, false);
  KernelPool pool(module);
  FusionReport report;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    FunctionFusion visitor(module, module.functions[i], pool, report);
    shapes.walk(i, visitor);
  }
  return report;
}

}  // namespace fcode
