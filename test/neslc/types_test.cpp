#include "neslc/front/types.hpp"

#include <catch2/catch.hpp>

#include "neslc/front/inference.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

TEST_CASE("equal types are one object", "[types]") {
  TypeTable table;
  const TypePtr a = table.pair(table.int_type(), table.sequence(table.generic(0)));
  CHECK(a == table.pair(table.int_type(), table.sequence(table.generic(0))));
  CHECK(a != table.pair(table.int_type(), table.sequence(table.generic(1))));
  CHECK(a->has_generics);
  const TypePtr to[] = {table.char_type()};
  CHECK(table.substitute(a, to) == table.pair(table.int_type(), table.sequence(table.char_type())));
  CHECK(table.opaque("x") == table.opaque("x"));
  CHECK(table.opaque("x") != table.opaque("y"));
}

TEST_CASE("types as text", "[types]") {
  TypeTable table;
  const TypePtr i = table.int_type(), c = table.char_type();
  const TypePtr none = table.opaque("");
  CHECK(type_text(table.pair(i, table.pair(i, c))) == "int, int, char");
  CHECK(type_text(table.pair(table.pair(i, i), c)) == "(int, int), char");
  CHECK(type_text(table.sequence(table.pair(i, c))) == "[(int, char)]");
  CHECK(type_text(table.function(table.pair(i, i), table.pair(c, c), none)) ==
        "(int, int) -> (char, char)");
  CHECK(type_text(table.function(table.function(i, i, none), table.function(c, c, none), none)) ==
        "(int -> int) -> char -> char");
  Scheme many;
  many.type = table.generic(0);
  for (std::uint32_t n = 1; n < 6; ++n) many.type = table.pair(many.type, table.generic(n));
  many.variables.assign(6, TypeClass::Any);
  CHECK(scheme_text(many).starts_with("((((a0, a1), a2), a3), a4), a5 :: (a0 in any; "));
}

TEST_CASE("unification of classes", "[types]") {
  TypeTable table;
  Inference inference(table);
  using Clash = Inference::Clash;
  const auto both = [&](TypeClass a, TypeClass b) {
    return inference.unify(inference.fresh(a), inference.fresh(b));
  };
  CHECK(both(TypeClass::Number, TypeClass::Ordinal) == Clash::None);
  CHECK(both(TypeClass::Any, TypeClass::Logical) == Clash::None);
  CHECK(both(TypeClass::Number, TypeClass::Logical) == Clash::Classes);
  CHECK(both(TypeClass::Ordinal, TypeClass::Logical) == Clash::Classes);
  const TypePtr a = inference.fresh(TypeClass::Ordinal), b = inference.fresh(TypeClass::Number);
  CHECK(inference.unify(a, b) == Clash::None);
  CHECK(inference.unify(a, table.char_type()) == Clash::Different);
  CHECK(inference.unify(a, table.float_type()) == Clash::None);
  CHECK(resolved(b) == table.float_type());
}

TEST_CASE("it does not matter which of several operands decides a type", "[types]") {
  TypeTable table;
  for (const bool known_first : {true, false}) {
    Inference inference(table);
    const TypePtr compared = inference.fresh(TypeClass::Ordinal);
    const TypePtr operand = inference.fresh(TypeClass::Logical);
    const TypePtr known = table.int_type();
    CHECK(inference.unify(inference.pair(operand, inference.pair(operand, operand)),
                          known_first
                              ? inference.pair(known, inference.pair(compared, compared))
                              : inference.pair(compared, inference.pair(compared, known))) ==
          Inference::Clash::None);
    CHECK(resolved(compared) == known);
    // A type that only one of them can be.
    const TypePtr other = inference.fresh(TypeClass::Ordinal);
    const TypePtr flag = inference.fresh(TypeClass::Logical);
    CHECK(inference.unify(inference.pair(flag, flag), inference.pair(other, table.bool_type())) ==
          Inference::Clash::Different);
    CHECK(resolved(other) == other);
    CHECK(resolved(flag) == flag);
  }
}

TEST_CASE("a clash leaves everything as it was", "[types]") {
  TypeTable table;
  Inference inference(table);
  const TypePtr a = inference.fresh();
  const TypePtr left = inference.pair(a, table.int_type());
  CHECK(inference.unify(left, table.pair(table.char_type(), table.bool_type())) ==
        Inference::Clash::Different);
  CHECK(resolved(a) == a);
  CHECK(inference.unify(a, inference.sequence(a)) == Inference::Clash::Infinite);
}

}  // namespace
}  // namespace neslc::testing
