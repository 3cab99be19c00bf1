#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/rewriter.hpp"

namespace fcode {

// LENGTHS(MAKE_SEGDES v) = v, MAKE_SEGDES(LENGTHS s) = s. A MAKE_SEGDES that is no longer used may
// disappear although it fails on negative lengths; what is left never fails where it did not.
bool simplify_descriptors(Module& module) {
  return rewrite(module, [](Statement& statement, RewriteContext& context) {
    if (statement.kind != Statement::Kind::Op) return Rewrite::None;
    const bool lengths = statement.op == Op::Lengths;
    if (!lengths && statement.op != Op::MakeSegdes) return Rewrite::None;
    const Definition& inner = context.definition(statement.operands[0]);
    if (!inner.is(lengths ? Op::MakeSegdes : Op::Lengths)) return Rewrite::None;
    context.names.set(statement.results[0], inner.operands[0]);
    return Rewrite::Dropped;
  });
}

}  // namespace fcode
