// Functions on scalars (reference, 6.1 to 6.5, 6.12).
#include <cmath>
#include <limits>

#include "interpreter.hpp"

namespace neslc::direct {
namespace {

template <class IntCase, class FloatCase>
Value by_number(const Value& a, const Value& b, const IntCase& ints, const FloatCase& floats) {
  if (a.is<double>()) return make_float(floats(a.as_float(), b.as_float()));
  return make_int(ints(a.as_int(), b.as_int()));
}

template <class Operation>
Value by_logic(const Value& a, const Value& b, const Operation& operation) {
  if (a.is<bool>()) return make_bool((operation(int{a.as_bool()}, int{b.as_bool()}) & 1) != 0);
  return make_int(operation(a.as_int(), b.as_int()));
}

/// -1, 0 or 1.
int order(const Value& a, const Value& b) {
  if (a.is<double>()) return (a.as_float() > b.as_float()) - (a.as_float() < b.as_float());
  if (a.is<unsigned char>()) return (a.as_char() > b.as_char()) - (a.as_char() < b.as_char());
  return (a.as_int() > b.as_int()) - (a.as_int() < b.as_int());
}

Value zero_like(const Value& a) {
  return a.is<double>() ? make_float(0) : make_int(0);
}

Value negated(const Value& a) {
  return a.is<double>() ? make_float(0 - a.as_float()) : make_int(-a.as_int());
}

Value absolute(const Value& a) {
  return order(a, negated(a)) > 0 ? a : negated(a);
}

Value difference(const Value& a, const Value& b) {
  return by_number(
      a, b, [](auto x, auto y) { return x - y; }, [](auto x, auto y) { return x - y; });
}

Value quotient(const LibraryCall&, const Value& v) {
  const Value& divisor = v.second();
  if (order(divisor, zero_like(divisor)) == 0) throw RuntimeError("Divide by zero.");
  return by_number(
      v.first(), divisor, [](auto x, auto y) { return x / y; },
      [](auto x, auto y) { return x / y; });
}

Value remainder(const LibraryCall&, const Value& v) {
  if (v.second().as_int() == 0) throw RuntimeError("Divide by zero in function REM.");
  return make_int(v.first().as_int() % v.second().as_int());
}

Value modulus(const LibraryCall&, const Value& v) {
  const std::int64_t d = v.second().as_int();
  if (d == 0) throw RuntimeError("Divide by zero in function MOD.");
  const std::int64_t r = v.first().as_int() % d;
  return make_int(r != 0 && (r < 0) != (d < 0) ? r + d : r);
}

Value power(const LibraryCall&, const Value& v) {
  std::int64_t p = v.second().as_int();
  if (p < 0) throw RuntimeError("The power must be nonnegative for ^ .");
  if (p > 64) throw Unspecified("a large power");
  Value result = v.first().is<double>() ? make_float(1) : make_int(1);
  for (; p > 0; --p) {
    result = by_number(
        result, v.first(), [](auto x, auto y) { return x * y; },
        [](auto x, auto y) { return x * y; });
  }
  return result;
}

Value common_divisor(const LibraryCall&, const Value& v) {
  std::int64_t a = v.first().as_int();
  std::int64_t b = v.second().as_int();
  while (b != 0) {
    const std::int64_t r = a % b;
    a = b;
    b = r;
  }
  return make_int(a);
}

Value whole(double value) {
  if (!(value >= std::numeric_limits<std::int32_t>::min() &&
        value <= std::numeric_limits<std::int32_t>::max())) {
    throw Unspecified("a float outside of the ints");
  }
  return make_int(static_cast<std::int64_t>(value));
}

Value integer_root(const LibraryCall&, const Value& v) {
  if (v.as_int() < 0) throw RuntimeError("Sqrt of negative number.");
  std::int64_t root = 0;
  while ((root + 1) * (root + 1) <= v.as_int()) ++root;
  return make_int(root);
}

Value shifted(const Value& v, bool left) {
  const std::int64_t by = v.second().as_int();
  if (by < 0 || by > 31) throw Unspecified("a shift by more than a word");
  const std::int64_t value = v.first().as_int();
  return make_int(left ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << by)
                       : value >> by);
}

Value select(const LibraryCall&, const Value& v) {
  return v.first().as_bool() ? v.second().first() : v.second().second();
}

Value identity_of(TypePtr type) {
  switch (type->kind) {
    case TypeKind::Int:
      return make_int(0);
    case TypeKind::Float:
      return make_float(0);
    case TypeKind::Bool:
      return make_bool(false);
    case TypeKind::Char:
      return make_char(' ');
    case TypeKind::Pair:
      return make_pair(identity_of(type->first()), identity_of(type->second()));
    case TypeKind::Sequence:
      return make_sequence({});
    default:
      throw Unspecified("identity of such a type");
  }
}

}  // namespace

LibraryTable scalar_functions() {
  using C = const LibraryCall&;
  using V = const Value&;
  return {
      {"not",
       [](C, V v) { return v.is<bool>() ? make_bool(!v.as_bool()) : make_int(~v.as_int()); }},
      {"and",
       [](C, V v) {
         return by_logic(v.first(), v.second(), [](auto a, auto b) { return a & b; });
       }},
      {"or",
       [](C, V v) {
         return by_logic(v.first(), v.second(), [](auto a, auto b) { return a | b; });
       }},
      {"xor",
       [](C, V v) {
         return by_logic(v.first(), v.second(), [](auto a, auto b) { return a ^ b; });
       }},
      {"nand",
       [](C, V v) {
         return by_logic(v.first(), v.second(), [](auto a, auto b) { return ~(a & b); });
       }},
      {"nor",
       [](C, V v) {
         return by_logic(v.first(), v.second(), [](auto a, auto b) { return ~(a | b); });
       }},
      {"==", [](C, V v) { return make_bool(order(v.first(), v.second()) == 0); }},
      {"/=", [](C, V v) { return make_bool(order(v.first(), v.second()) != 0); }},
      {"<", [](C, V v) { return make_bool(order(v.first(), v.second()) < 0); }},
      {">", [](C, V v) { return make_bool(order(v.first(), v.second()) > 0); }},
      {"<=", [](C, V v) { return make_bool(order(v.first(), v.second()) <= 0); }},
      {">=", [](C, V v) { return make_bool(order(v.first(), v.second()) >= 0); }},
      {"+",
       [](C, V v) {
         return by_number(
             v.first(), v.second(), [](auto a, auto b) { return a + b; },
             [](auto a, auto b) { return a + b; });
       }},
      {"-", [](C, V v) { return difference(v.first(), v.second()); }},
      {"*",
       [](C, V v) {
         return by_number(
             v.first(), v.second(), [](auto a, auto b) { return a * b; },
             [](auto a, auto b) { return a * b; });
       }},
      {"/", quotient},
      {"rem", remainder},
      {"mod", modulus},
      {"^", power},
      {"gcd", common_divisor},
      {"isqrt", integer_root},
      {"negate", [](C, V v) { return negated(v); }},
      {"abs", [](C, V v) { return absolute(v); }},
      {"diff", [](C, V v) { return absolute(difference(v.first(), v.second())); }},
      {"max", [](C, V v) { return order(v.first(), v.second()) > 0 ? v.first() : v.second(); }},
      {"min", [](C, V v) { return order(v.first(), v.second()) < 0 ? v.first() : v.second(); }},
      {"plusp", [](C, V v) { return make_bool(order(v, zero_like(v)) > 0); }},
      {"minusp", [](C, V v) { return make_bool(order(v, zero_like(v)) < 0); }},
      {"zerop", [](C, V v) { return make_bool(order(v, zero_like(v)) == 0); }},
      {"oddp", [](C, V v) { return make_bool((v.as_int() & 1) != 0); }},
      {"evenp", [](C, V v) { return make_bool((v.as_int() & 1) == 0); }},
      {"lshift", [](C, V v) { return shifted(v, true); }},
      {"rshift", [](C, V v) { return shifted(v, false); }},
      {"btoi", [](C, V v) { return make_int(v.as_bool() ? 1 : 0); }},
      {"code_char",
       [](C, V v) {
         if (v.as_int() < 0 || v.as_int() > 127) throw Unspecified("not a character");
         return make_char(static_cast<unsigned char>(v.as_int()));
       }},
      {"char_code", [](C, V v) { return make_int(v.as_char()); }},
      {"rand",
       [](C, V v) {
         if (v.as_int() != 1) throw Unspecified("a random number");
         return make_int(0);
       }},
      {"float", [](C, V v) { return make_float(static_cast<double>(v.as_int())); }},
      {"floor", [](C, V v) { return whole(std::floor(v.as_float())); }},
      {"ceil", [](C, V v) { return whole(std::ceil(v.as_float())); }},
      {"trunc", [](C, V v) { return whole(std::trunc(v.as_float())); }},
      {"machine.max_int", [](C, V) { return make_int(std::numeric_limits<std::int32_t>::max()); }},
      {"machine.min_int", [](C, V) { return make_int(std::numeric_limits<std::int32_t>::min()); }},
      {"select", select},
      {"first", [](C, V v) { return v.first(); }},
      {"rest", [](C, V v) { return v.second(); }},
      {"eql", [](C, V v) { return make_bool(equal(v.first(), v.second())); }},
      {"identity", [](C c, V) { return identity_of(c.result_type); }},
  };
}

}  // namespace neslc::direct
