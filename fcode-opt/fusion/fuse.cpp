#include "fcode-opt/fusion/fuse.hpp"

#include <algorithm>
#include <utility>

#include "fcode-opt/fusion/arrange.hpp"
#include "fcode-opt/fusion/assumptions.hpp"
#include "fcode-opt/fusion/canonical.hpp"
#include "fcode-opt/fusion/kernel_writer.hpp"
#include "fcode-opt/fusion/known_choices.hpp"
#include "fcode-opt/fusion/lifetimes.hpp"
#include "fcode-opt/fusion/reasons.hpp"
#include "fcode-opt/fusion/spec_writer.hpp"
#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

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
               KnownChoices& known, std::span<const Statement> statements,
               std::vector<std::uint32_t> outside_uses, std::vector<bool> survives)
      : module_(module),
        function_(function),
        shapes_(shapes),
        pool_(pool),
        known_(known),
        statements_(statements),
        outside_uses_(std::move(outside_uses)),
        survives_(std::move(survives)),
        native_(statements.size(), false),
        dropped_(statements.size(), false) {
    for (const Statement& statement : statements) {
      pieces_.push_back(piece_of(statement, shapes));
    }
    views_ = find_views(statements, shapes, outside_uses_);
  }

  /// Statements that do the same; none if nothing is to be fused.
  std::vector<Statement> run(FusionReport::Region& report) {
    // A kernel that saves nothing gives its operations back, and one that cannot check what it
    // assumes does without; then others may change, too.
    for (bool again = true; again;) {
      Assumptions assumptions(statements_, module_, shapes_, dropped_);
      graph_ = build_graph(statements_, module_, function_, shapes_, outside_uses_, native_,
                           assumptions.assumed(), pieces_, views_);
      keep_fetches_apart(graph_, survives_);
      graph_.storage = storage_of(graph_, shapes_, survives_);
      choice_ = known_.choose(graph_, choice_.schedule);
      again = give_back() || !find_checks(assumptions);
      if (!again) write_kernels(assumptions);
      assumptions.leave();
    }
    describe(report);
    std::vector<Statement> result;
    if (std::all_of(kernels_.begin(), kernels_.end(),
                    [](const ChosenKernel& kernel) { return kernel.members.empty(); })) {
      return result;
    }
    count_passes();
    for (const Node& node : graph_.nodes) {
      if (is_constant(node)) result.push_back(copy_without_blocks(*node.statement));
    }
    for (Slot slot = 0; slot < kernels_.size(); ++slot) {
      if (!kernels_[slot].members.empty()) emit(slot, result, report);
      emit_instructions(slot, result);
    }
    return result;
  }

 private:
  struct ChosenKernel {
    std::vector<NodeIndex> members;
    ValueList checked;  // operands for their lengths
    std::uint32_t passes = 0;
    WrittenKernel written;
  };

  // Marks the operations of kernels that do not pay. True if there are any.
  bool give_back() {
    bool any = false;
    const auto count = static_cast<NodeIndex>(graph_.nodes.size());
    kernels_.assign(count + 1, {});
    for (NodeIndex i = 0; i < count; ++i) {
      if (graph_.nodes[i].in_kernel()) kernels_[choice_.schedule[i]].members.push_back(i);
    }
    for (const ChosenKernel& kernel : kernels_) {
      if (kernel.members.empty() || pays(graph_, kernel.members)) continue;
      for (NodeIndex i : kernel.members) native_[i] = true;
      any = true;
    }
    return any;
  }

  // False if a kernel cannot check what it assumes; what helps is marked then.
  bool find_checks(const Assumptions& assumptions) {
    bool complete = true;
    for (ChosenKernel& kernel : kernels_) {
      if (kernel.members.empty()) continue;
      Assumptions::Checks checks = assumptions.checks(graph_, choice_.schedule, kernel.members);
      for (ValueId segdes : checks.missing) native_[graph_.producer(segdes)] = true;
      for (std::size_t i : checks.impossible) dropped_[i] = true;
      complete &= checks.complete();
      kernel.checked = std::move(checks.values);
    }
    return complete;
  }

  // From the last one on, whose results are read behind the region or by instructions: what each
  // kernel takes shows when it has been written. A vector of which only the length is asked may be
  // among that, or not, if something else tells it.
  void write_kernels(const Assumptions& assumptions) {
    find_wanted();
    for (auto kernel = kernels_.rbegin(); kernel != kernels_.rend(); ++kernel) {
      if (kernel->members.empty()) continue;
      kernel->written = write_kernel(graph_, kernel->members, wanted_, kernel->checked, function_,
                                     module_, shapes_);
      write_spec(graph_, kernel->members, assumptions, function_, module_, shapes_,
                 kernel->written);
      for (const ValueId operand : kernel->written.operands) wanted_[operand] = true;
    }
  }

  void count_passes() {
    for (const Step& step : steps_of(graph_, choice_.schedule)) {
      if (step.kernel && !step.once) ++kernels_[step.slot].passes;
    }
  }

  // What is read by others than kernels.
  void find_wanted() {
    wanted_.assign(outside_uses_.size(), false);
    for (const Statement& statement : statements_) {
      for (const ValueList* values : {&statement.operands, &statement.results}) {
        for (const ValueId value : *values) wanted_[value] = outside_uses_[value] != 0;
      }
    }
    for (const Node& node : graph_.nodes) {
      if (!node.scheduled() || node.in_kernel()) continue;
      for (const ValueId operand : node.statement->operands) wanted_[operand] = true;
    }
  }

  void emit(Slot slot, std::vector<Statement>& result, FusionReport::Region& report) {
    const std::vector<NodeIndex>& members = kernels_[slot].members;
    WrittenKernel& written = kernels_[slot].written;
    const Statement& first = *graph_.nodes[members[0]].statement;
    Statement run;
    run.kind = Statement::Kind::Run;
    run.index = pool_.add(std::move(written.kernel), function_, first.origin);
    run.effects = !vcode::is_pure(module_.kernels[run.index]);
    run.operands = std::move(written.operands);
    run.results = std::move(written.results);
    run.origin = place_of(members);
    report.kernels.push_back({module_.kernels[run.index].name, first.origin,
                              static_cast<std::uint32_t>(members.size()), kernels_[slot].passes});
    result.push_back(std::move(run));
  }

  // Where failures of the kernel are reported.
  const Origin& place_of(const std::vector<NodeIndex>& members) const {
    for (const NodeIndex i : members) {
      if (is_failing_draw(graph_.nodes[i])) return graph_.nodes[i].statement->origin;
    }
    return graph_.nodes[members[0]].statement->origin;
  }

  void emit_instructions(Slot slot, std::vector<Statement>& result) {
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!node.scheduled() || node.in_kernel() || is_constant(node)) continue;
      if (choice_.schedule[i] == slot) result.push_back(copy_without_blocks(*node.statement));
    }
  }

  static bool is_constant(const Node& node) {
    return node.scheduled() && pushes_constant(*node.statement);
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
    report.price = choice_.price;
  }

  Module& module_;
  Function& function_;
  Shapes& shapes_;
  KernelPool& pool_;
  KnownChoices& known_;
  std::span<const Statement> statements_;
  std::vector<std::uint32_t> outside_uses_;
  std::vector<bool> survives_;  // by value: read behind the region
  std::vector<bool> native_;
  std::vector<bool> dropped_;                 // see Assumptions
  std::vector<std::optional<Piece>> pieces_;  // see build_graph
  std::vector<std::optional<View>> views_;    // the same
  RegionGraph graph_;
  Choice choice_;
  std::vector<ChosenKernel> kernels_;  // by slot
  std::vector<bool> wanted_;
};

class FunctionFusion : public ShapeVisitor {
 public:
  FunctionFusion(Module& module, Function& function, KernelPool& pool, KnownChoices& known,
                 FusionReport& report)
      : module_(module),
        function_(function),
        pool_(pool),
        known_(known),
        report_(report),
        uses_(count_uses(function)),
        lifetimes_(function) {}

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    std::vector<std::uint32_t> outside = uses_;
    for (std::size_t i = begin; i < end; ++i) {
      for (ValueId operand : block.statements[i].operands) --outside[operand];
    }
    const std::span<const Statement> statements(block.statements.data() + begin, end - begin);
    FusionReport::Region region;
    std::vector<Statement> fused =
        RegionFusion(module_, function_, shapes, pool_, known_, statements, std::move(outside),
                     lifetimes_.read_behind(block, end))
            .run(region);
    if (region.operations > 0) report_.regions.push_back(std::move(region));
    if (!fused.empty()) replace_region(block, begin, end, std::move(fused));
  }

 private:
  Module& module_;
  Function& function_;
  KernelPool& pool_;
  KnownChoices& known_;
  FusionReport& report_;
  // Both before anything was replaced; regions are replaced in order.
  std::vector<std::uint32_t> uses_;
  Lifetimes lifetimes_;
};

}  // namespace

FusionReport fuse(Module& module, KnownWalks& walks) {
  arrange_for_fusion(module, walks);
  infer_types(module);  // kernels state the types of what they take
  ShapeAnalysis shapes(module, ShapeAnalysis::Trust::Regions, walks);
  KernelPool pool(module);
  KnownChoices known;
  FusionReport report;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque || module.functions[i].fallback) continue;
    FunctionFusion visitor(module, module.functions[i], pool, known, report);
    shapes.walk(i, visitor);
  }
  return report;
}

}  // namespace fcode
