// The typed tree as the back half sees it.
#include "neslc/front/typed.hpp"

#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

const Expr& value_of(const Run& run) {
  return *run.forms.back().body->expression;
}

template <typename Node>
const Node& as(const Expr& expression) {
  const auto* node = std::get_if<Node>(&expression.node);
  REQUIRE(node != nullptr);
  return *node;
}

TEST_CASE("every use of a polymorphic name has its instantiation", "[typed]") {
  Run run("function twice(x) = x + x; twice(2.5);");
  const Call& call = as<Call>(value_of(run));
  const GlobalRef& callee = as<GlobalRef>(*call.callee);
  CHECK(callee.definition == run.session.find("twice"));
  CHECK(callee.instantiation == std::vector<TypePtr>{run.session.types().float_type()});
  const TypePtr identity = call.callee->type->identity();
  CHECK(identity->kind == TypeKind::FunctionIdentity);
  CHECK(identity->function == callee.definition);

  const Body& body = *callee.definition->body;
  const Call& plus = as<Call>(*body.expression);
  CHECK(as<GlobalRef>(*plus.callee).definition->name == "+");
  CHECK(body.expression->type == run.session.types().generic(0));
  CHECK(body.parameter->local == as<LocalRef>(*as<Pair>(*plus.argument).first).local);
}

TEST_CASE("recursive calls refer to the slot", "[typed]") {
  Run run("function g(x) = if x == 0 then x else g(x - 1); function g(x) = g(x - 1) + 1;");
  const Definition* g = run.session.find("g");
  REQUIRE(g->body->references.size() >= 1);
  bool found = false;
  for (const auto& reference : g->body->references) found |= reference.definition == g;
  CHECK(found);
}

TEST_CASE("lambdas carry the generics of their definition", "[typed]") {
  Run run("function adder(k) = (x => x + k); adder(2)(1);");
  const Definition* adder = run.session.find("adder");
  const Lambda* lambda = as<LambdaRef>(*adder->body->expression).lambda;
  REQUIRE(lambda->captures.size() == 1);
  CHECK(lambda->captures[0]->name == "k");
  CHECK(lambda->enclosing == "adder");
  const TypePtr result = adder->scheme.type->result();
  CHECK(result->identity()->lambda == lambda);
  CHECK(result->identity()->arguments == std::vector<TypePtr>{run.session.types().generic(0)});
  const TypePtr callee = as<Call>(value_of(run)).callee->type;
  CHECK(callee->identity()->arguments == std::vector<TypePtr>{run.session.types().int_type()});
}

TEST_CASE("captures of inner lambdas are captures of the outer one", "[typed]") {
  Run run("let a = 1; b = 2.0 in (x => (y => (a, b, x, y)));");
  const Lambda* outer = as<LambdaRef>(*as<Let>(value_of(run)).body).lambda;
  const Lambda* inner = as<LambdaRef>(*outer->body).lambda;
  CHECK(outer->captures.size() == 2);
  CHECK(inner->captures.size() == 3);
  CHECK(value_of(run).type->result()->identity()->lambda == inner);
}

TEST_CASE("a function parameter has an open identity until it is specialised", "[typed]") {
  Run run("function apply(g, x) = g(x); apply(sqrt, 2.0);");
  const Definition* apply = run.session.find("apply");
  const Expr& callee = *as<Call>(*apply->body->expression).callee;
  CHECK(callee.type->identity()->kind == TypeKind::Generic);
  const GlobalRef& use = as<GlobalRef>(*as<Call>(value_of(run)).callee);
  const TypePtr special = run.session.types().substitute(callee.type, use.instantiation);
  CHECK(special->identity()->function == run.session.find("sqrt"));
  CHECK(serial_function(special) == nullptr);
}

TEST_CASE("partial application", "[typed]") {
  Run run("closure(max, 3);");
  const TypePtr identity = value_of(run).type->identity();
  REQUIRE(identity->kind == TypeKind::PartialIdentity);
  CHECK(identity->arguments[0]->identity()->function == run.session.find("max"));
  CHECK(identity->arguments[1] == run.session.types().int_type());
}

TEST_CASE("sugar is gone", "[typed]") {
  Run run("datatype p(int, int); {p(a, b) in {p(i, i) : i in [0:3]} | a > 0};");
  const ApplyToEach& each = as<ApplyToEach>(value_of(run));
  CHECK(as<GlobalRef>(*as<Call>(*each.body).callee).definition == run.session.find("p"));
  const ApplyToEach& inner = as<ApplyToEach>(*each.generators[0].value);
  const Call& range = as<Call>(*inner.generators[0].value);
  CHECK(as<GlobalRef>(*range.callee).definition == run.session.find("iseq"));
  const Pair& bounds = as<Pair>(*range.argument);
  CHECK(as<IntLiteral>(*as<Pair>(*bounds.second).first).value == 1);
  CHECK(as<IntLiteral>(*as<Pair>(*bounds.second).second).value == 3);
}

TEST_CASE("defaults are filled in at the call", "[typed]") {
  Run run("function c(x, lo := 0, hi := 9) = x + lo + hi; c(5, hi := 7);");
  const Call& call = as<Call>(value_of(run));
  const Pair& all = as<Pair>(*call.argument);
  const Pair& keywords = as<Pair>(*all.second);
  CHECK(as<IntLiteral>(*all.first).value == 5);
  CHECK(as<IntLiteral>(*keywords.first).value == 0);
  CHECK(as<IntLiteral>(*keywords.second).value == 7);
}

TEST_CASE("spans cover whole expressions", "[typed]") {
  Run run("1 + (2 *\n 3);");
  CHECK(value_of(run).span == Span{1, 1, 8});
  Run second("  h(1) + 2;");
  CHECK(second.errors[0].diagnostic.span == Span{1, 3, 1});
}

TEST_CASE("what nothing depends on has a default type", "[typed]") {
  Run run("let g = (x => x) in 3; let h = (k => k(1)) in 4;");
  CHECK(run.errors.empty());
  for (const CheckedForm& form : run.forms) {
    for (const auto& lambda : form.body->lambdas) CHECK_FALSE(lambda->body->type->has_generics);
  }
}

}  // namespace
}  // namespace neslc::testing
