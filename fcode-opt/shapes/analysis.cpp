#include "fcode-opt/shapes/analysis.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "fcode-opt/shapes/signature.hpp"
#include "fcode-opt/stopping.hpp"

namespace fcode {

using Kind = Statement::Kind;
using vcode::Family;

void replace_region(Block& block, std::size_t begin, std::size_t& end,
                    std::vector<Statement> statements) {
  const auto at = [&](std::size_t i) {
    return block.statements.begin() + static_cast<std::ptrdiff_t>(i);
  };
  // What is behind the region moves once.
  const std::size_t common = std::min(end - begin, statements.size());
  const auto more = statements.begin() + static_cast<std::ptrdiff_t>(common);
  std::move(statements.begin(), more, at(begin));
  block.statements.erase(at(begin + common), at(end));
  block.statements.insert(at(begin + common), std::make_move_iterator(more),
                          std::make_move_iterator(statements.end()));
  end = begin + statements.size();
}

bool is_barrier(const Statement& statement) {
  if (pushes_constant(statement) || statement.kind == Kind::Run) return false;
  if (statement.kind != Kind::Op) return true;
  const Family family = vcode::info(statement.op).family;
  return family == Family::Io || family == Family::Timer || family == Family::Seed;
}

/// One pass through one function.
class ShapeAnalysis::Walk {
 public:
  /// `calls`, unless null, gets the calls that are met.
  Walk(ShapeAnalysis& analysis, std::uint32_t function, ShapeVisitor& visitor,
       std::vector<KnownWalks::Call>* calls)
      : analysis_(analysis),
        index_(function),
        function_(analysis.module_.functions[function]),
        shapes_(function_, analysis.trust_ == Trust::Always),
        visitor_(visitor),
        calls_(calls) {
    if (!analysis.parameters_[function]) return;  // not called: nothing is known
    SignatureReader reader(shapes_, *analysis.parameters_[function]);
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      shapes_.define(function_.parameters[i], reader.read(i));
    }
  }

  /// The signature of the body; nothing if its end is not reached.
  std::optional<SignatureShapes> run() {
    if (!block(function_.body)) return std::nullopt;
    SignatureWriter writer(shapes_);
    for (ValueId value : function_.parameters) writer.add(value);
    for (ValueId value : function_.body.results) writer.add(value);
    return writer.take();
  }

 private:
  // Is the end of the block reached?
  bool block(Block& block, ValueId condition = kNoValue, bool value = false) {
    visitor_.enter();
    if (condition != kNoValue) visitor_.assumed(shapes_, condition, value);
    const bool reached = statements(block);
    visitor_.leave();
    return reached;
  }

  bool statements(Block& block) {
    for (std::size_t at = 0; at < block.statements.size();) {
      end_if_asked();
      std::size_t end = at;
      while (end < block.statements.size() && !is_barrier(block.statements[end])) ++end;
      std::vector<std::pair<Linear, Linear>> rules;  // that hold behind the region
      for (std::size_t i = at; i < end; ++i) {
        shapes_.step(block.statements[i], analysis_.module_);
        if (analysis_.trust_ != Trust::Regions || !is_checked(block.statements[i])) continue;
        shapes_.for_each_demand(block.statements[i], [&](const Linear& left, const Linear& right) {
          rules.emplace_back(left, right);
        });
      }
      if (end > at) visitor_.region(shapes_, block, at, end);
      for (const auto& [left, right] : rules) shapes_.equations.unite(left, right);
      at = end;
      if (at < block.statements.size() && !barrier(block.statements[at++])) return false;
    }
    return !block.diverges;
  }

  // Does it fail if the lengths of its operands do not fit?
  static bool is_checked(const Statement& statement) {
    return statement.kind == Kind::Op && vcode::info(statement.op).family != Family::Elementwise;
  }

  bool barrier(Statement& statement) {
    switch (statement.kind) {
      case Kind::If:
        return conditional(statement);
      case Kind::Call:
        return call(statement);
      case Kind::Exit:
        return false;
      default:
        shapes_.step(statement, analysis_.module_);
        return true;
    }
  }

  struct Arm {
    bool reaches = false;
    std::vector<Shape> results;  // with what the arm knows put in
    Equations::Learned learned;
  };

  Shape settled(ValueId value) {
    Shape shape = shapes_.of(value);
    if (std::optional<Linear> element = shapes_.element(value)) {
      shape.uniform = true;
      shape.element = shapes_.equations.normal(*element);
    }
    shape.length = shapes_.equations.normal(shape.length);
    shape.sum = shapes_.equations.normal(shape.sum);
    return shape;
  }

  Arm arm(Block& body, ValueId condition, bool value) {
    Arm arm;
    const Equations::Mark equations = shapes_.equations.mark();
    const Shapes::Mark mark = shapes_.mark();
    const bool possible = shapes_.assume(condition, value);
    arm.reaches = block(body, condition, value) && possible;
    if (arm.reaches) {
      for (ValueId result : body.results) arm.results.push_back(settled(result));
    }
    arm.learned = shapes_.equations.leave(equations);
    shapes_.leave(mark);
    return arm;
  }

  bool conditional(Statement& statement) {
    const ValueId condition = statement.operands[0];
    const std::optional<bool> known = shapes_.truth(condition);
    if (known) visitor_.decided(shapes_, statement, *known);
    Arm then_arm = arm(*statement.then_block, condition, true);
    Arm else_arm = arm(*statement.else_block, condition, false);
    if (known) (*known ? else_arm : then_arm).reaches = false;
    if (!then_arm.reaches && !else_arm.reaches) return false;
    if (then_arm.reaches && else_arm.reaches) {
      join(statement, then_arm, else_arm);
      visitor_.joined(shapes_, statement);
      return true;
    }
    const Arm& only = then_arm.reaches ? then_arm : else_arm;
    shapes_.equations.replay(only.learned);
    shapes_.assume(condition, then_arm.reaches);
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      shapes_.define(statement.results[i], only.results[i]);
    }
    visitor_.assumed(shapes_, condition, then_arm.reaches);
    return true;
  }

  /// What is x in one arm and y in the other is one of them where these are known to be equal, or
  /// where the other arm has learned that they are; else it is unknown.
  class JoinedTerms {
   public:
    JoinedTerms(Equations& equations, const Arm& a, const Arm& b)
        : equations_(equations), a_(a), b_(b) {}

    void add(const Linear& x, const Linear& y) {
      if (x == y) return;
      const auto [place, is_new] = terms_.try_emplace({x, y});
      if (is_new && equations_.equal(x, y)) place->second = x;
    }
    void solve() {
      where_equal(b_, [](const auto& pair) { return pair.first; });
      where_equal(a_, [](const auto& pair) { return pair.second; });
      for (auto& [pair, term] : terms_) {
        if (!term) term = equations_.unknown();
      }
    }
    const Linear& of(const Linear& x, const Linear& y) const {
      return x == y ? x : *terms_.at({x, y});
    }

   private:
    template <typename Choose>
    void where_equal(const Arm& arm, Choose choose) {
      if (arm.learned.empty()) return;
      const Equations::Mark mark = equations_.mark();
      equations_.replay(arm.learned);
      for (auto& [pair, term] : terms_) {
        if (!term && equations_.equal(pair.first, pair.second)) term = choose(pair);
      }
      equations_.leave(mark);
    }

    Equations& equations_;
    const Arm &a_, &b_;
    std::map<std::pair<Linear, Linear>, std::optional<Linear>> terms_;
  };

  void join(const Statement& statement, const Arm& a, const Arm& b) {
    JoinedTerms terms(shapes_.equations, a, b);
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      const Shape &x = a.results[i], &y = b.results[i];
      terms.add(x.length, y.length);
      terms.add(x.sum, y.sum);
      if (x.uniform && y.uniform) terms.add(x.element, y.element);
    }
    terms.solve();
    std::map<std::pair<Content, Content>, Content> contents;
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      const Shape &x = a.results[i], &y = b.results[i];
      Shape shape;
      shape.length = terms.of(x.length, y.length);
      shape.sum = terms.of(x.sum, y.sum);
      shape.uniform = x.uniform && y.uniform;
      if (shape.uniform) shape.element = terms.of(x.element, y.element);
      shape.content = x.content;
      if (x.content != y.content) {
        const auto [place, is_new] = contents.try_emplace({x.content, y.content});
        if (is_new) place->second = shapes_.new_content();
        shape.content = place->second;
      }
      shapes_.define(statement.results[i], std::move(shape));
    }
  }

  bool call(const Statement& statement) {
    const std::uint32_t callee = statement.index;
    SignatureWriter writer(shapes_);
    for (ValueId value : statement.operands) writer.add(value);
    SignatureShapes arguments = writer.take();
    const std::optional<SignatureShapes>& known = analysis_.call(index_, callee, arguments);
    if (calls_) calls_->push_back({callee, std::move(arguments), known});
    if (!known) return false;
    SignatureReader reader(shapes_, *known);
    const std::size_t count = statement.operands.size();
    for (std::size_t i = 0; i < count; ++i) reader.bind(i, statement.operands[i]);
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      shapes_.define(statement.results[i], reader.read(count + i));
    }
    return true;
  }

  ShapeAnalysis& analysis_;
  std::uint32_t index_;
  Function& function_;
  Shapes shapes_;
  ShapeVisitor& visitor_;
  std::vector<KnownWalks::Call>* calls_;
};

namespace {

bool makes_calls(const Function& function) {
  bool found = false;
  for_each_statement(function.body,
                     [&](const Statement& statement) { found |= statement.kind == Kind::Call; });
  return found;
}

SignatureShapes unknown_shapes(const Function& function, std::size_t count) {
  Shapes shapes(function);
  SignatureWriter writer(shapes);
  for (std::size_t i = 0; i < count; ++i) writer.add(static_cast<ValueId>(i));
  return writer.take();
}

}  // namespace

ShapeAnalysis::ShapeAnalysis(Module& module, Trust trust, KnownWalks& known)
    : module_(module),
      trust_(trust),
      known_(&known),
      parameters_(module.functions.size()),
      results_(module.functions.size()),
      pending_(module.functions.size(), 0),
      walking_(module.functions.size(), 0),
      callers_(module.functions.size()) {
  // Whoever starts the program gives the entry no promises, and of functions that are not in single
  // assignment nothing is known at all.
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    const std::size_t parameters = function.parameters.size();
    if (function.opaque) {
      results_[i] = unknown_shapes(function, parameters + function.result_types.size());
    } else if (i == module.entry) {
      weaken_parameters(i, unknown_shapes(function, parameters));
    }
  }
  // Where the entry calls nothing, nobody asks for signatures.
  bool again = makes_calls(module.functions[module.entry]);
  if (again) known.keep_valid(module, static_cast<std::uint8_t>(trust));
  while (again) {
    again = false;
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
      if (!std::exchange(pending_[i], 0) || module.functions[i].opaque) continue;
      again = true;
      solve(i);
    }
  }
  known_ = nullptr;
}

void ShapeAnalysis::solve(std::uint32_t function) {
  ++depth_;
  walking_[function] = 1;
  std::optional<SignatureShapes> signature = signature_of(function);
  walking_[function] = 0;
  --depth_;
  if (signature && weaken_results(function, std::move(*signature))) {
    for (std::uint32_t caller : callers_[function]) pending_[caller] = 1;
  }
}

// By a walk, or by one that would be the same.
std::optional<SignatureShapes> ShapeAnalysis::signature_of(std::uint32_t function) {
  if (known_) {
    for (const KnownWalks::Walk& walk : known_->of(function)) {
      if (meets_the_same(function, walk)) return walk.signature;
    }
  }
  KnownWalks::Walk walk{*parameters_[function], {}, {}};
  ShapeVisitor silent;
  walk.signature = Walk(*this, function, silent, &walk.calls).run();
  std::optional<SignatureShapes> signature = walk.signature;
  if (known_) known_->of(function).push_back(std::move(walk));
  return signature;
}

bool ShapeAnalysis::meets_the_same(std::uint32_t function, const KnownWalks::Walk& walk) {
  return walk.parameters == *parameters_[function] &&
         std::all_of(walk.calls.begin(), walk.calls.end(), [&](const KnownWalks::Call& made) {
           return call(function, made.callee, made.arguments) == made.results;
         });
}

// What is known of the results of a callee that is given such arguments as well.
const std::optional<SignatureShapes>& ShapeAnalysis::call(std::uint32_t caller,
                                                          std::uint32_t callee,
                                                          const SignatureShapes& arguments) {
  weaken_parameters(callee, arguments);
  if (!results_[callee]) try_walk(callee);
  callers_[callee].insert(caller);  // of what is known from now on
  return results_[callee];
}

// A callee that was not walked yet would end the walk of its caller. What is found at once in the
// end, callers need not be walked for again.
void ShapeAnalysis::try_walk(std::uint32_t callee) {
  constexpr int kDeepest = 64;  // walks inside each other, each on the native stack
  if (walking_[callee] || depth_ >= kDeepest) return;
  while (std::exchange(pending_[callee], 0)) solve(callee);
}

void ShapeAnalysis::walk(std::uint32_t function, ShapeVisitor& visitor) {
  Walk(*this, function, visitor, nullptr).run();
}

void ShapeAnalysis::weaken_parameters(std::uint32_t function, const SignatureShapes& shapes) {
  std::optional<SignatureShapes>& known = parameters_[function];
  if (known && *known == shapes) return;
  SignatureShapes weaker = known ? common(*known, shapes) : shapes;
  if (known && *known == weaker) return;
  known = std::move(weaker);
  pending_[function] = 1;
}

bool ShapeAnalysis::weaken_results(std::uint32_t function, SignatureShapes shapes) {
  std::optional<SignatureShapes>& known = results_[function];
  if (known && *known == shapes) return false;
  SignatureShapes weaker = known ? common(*known, shapes) : std::move(shapes);
  if (known && *known == weaker) return false;
  known = std::move(weaker);
  return true;
}

}  // namespace fcode
