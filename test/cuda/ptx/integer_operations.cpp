// Arithmetic and comparisons of integers.
#include <bit>
#include <limits>

#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

/// Products twice as wide as their factors.
template <class T>
struct Wider;
template <>
struct Wider<std::int16_t> : std::type_identity<std::int32_t> {};
template <>
struct Wider<std::uint16_t> : std::type_identity<std::uint32_t> {};
template <>
struct Wider<std::int32_t> : std::type_identity<std::int64_t> {};
template <>
struct Wider<std::uint32_t> : std::type_identity<std::uint64_t> {};
template <>
struct Wider<std::int64_t> {
  __extension__ using type = __int128;
};
template <>
struct Wider<std::uint64_t> {
  __extension__ using type = unsigned __int128;
};

// Sums, differences and products wrap around: they are those of unsigned numbers as wide as
// possible, of which the low bits count.
template <class T>
constexpr std::uint64_t bits(T value) {
  return static_cast<std::uint64_t>(value);
}

template <class T>
T high_product(T a, T b) {
  using Wide = typename Wider<T>::type;
  return static_cast<T>(static_cast<Wide>(static_cast<Wide>(a) * b) >> (8 * sizeof(T)));
}

/// What a device computes where the language says nothing: all ones for a division by zero, the
/// dividend for its remainder; the least number by -1 wraps around.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - bits(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

/// By a power of two a product is a shift, by which compilers put words together from bytes: it
/// only moves bits, so that what is unwritten goes where they go.
template <class T>
bool is_power_of_two(const Thread& t, std::uint32_t at) {
  const auto value = t.moved<T>(at);
  return t.unwritten<T>(at) == 0 && value > 0 && std::has_single_bit(bits(value));
}
template <class T, class Product>
void multiply(const Instruction& i, Thread& t) {
  const auto product = [](T a, T b) { return static_cast<Product>(bits(a) * bits(b)); };
  const auto a = t.moved<T>(i.r[1]), b = t.moved<T>(i.r[2]);
  const auto no_a = t.unwritten<T>(i.r[1]), no_b = t.unwritten<T>(i.r[2]);
  if (no_a != 0 && is_power_of_two<T>(t, i.r[2])) {
    t.set(i.r[0], product(a, b), product(no_a, b));
  } else if (no_b != 0 && is_power_of_two<T>(t, i.r[1])) {
    t.set(i.r[0], product(a, b), product(a, no_b));
  } else {
    t.set(i.r[0], product(t.get<T>(i.r[1]), t.get<T>(i.r[2])));
  }
}
template <class T>
void multiply_add_wide(const Instruction& i, Thread& t) {
  using Wide = typename Wider<T>::type;
  const Wide product = static_cast<Wide>(static_cast<Wide>(t.get<T>(i.r[1])) * t.get<T>(i.r[2]));
  t.set(i.r[0], static_cast<Wide>(bits(product) + bits(t.get<Wide>(i.r[3]))));
}

template <class T>
void add_arithmetic(OperationTable& table) {
  const std::string type = type_name<T>();
  table.add("add." + type, binary<T, [](T a, T b) { return bits(a) + bits(b); }>);
  table.add("sub." + type, binary<T, [](T a, T b) { return bits(a) - bits(b); }>);
  table.add("mul.lo." + type, multiply<T, T>);
  table.add("mul.hi." + type, binary<T, high_product<T>>);
  table.add("mad.lo." + type,
            ternary<T, [](T a, T b, T c) { return bits(a) * bits(b) + bits(c); }>);
  table.add("mad.hi." + type,
            ternary<T, [](T a, T b, T c) { return bits(high_product(a, b)) + bits(c); }>);
  table.add("div." + type, binary<T, quotient<T>>);
  table.add("rem." + type, binary<T, remainder<T>>);
  table.add("min." + type, binary<T, [](T a, T b) { return a < b ? a : b; }>);
  table.add("max." + type, binary<T, [](T a, T b) { return (a > b) ? a : b; }>);
  if constexpr (std::is_signed_v<T>) {
    table.add("neg." + type, unary<T, [](T a) { return 0 - bits(a); }>);
    table.add("abs." + type, unary<T, [](T a) { return a < 0 ? 0 - bits(a) : bits(a); }>);
  }
  table.add("selp." + type, select<T>);
}

template <class T>
void add_integer_comparisons(OperationTable& table) {
  const std::string type = type_name<T>();
  add_comparison<T, [](T a, T b) { return a == b; }>(table, "eq", type);
  add_comparison<T, [](T a, T b) { return a != b; }>(table, "ne", type);
  add_comparison<T, [](T a, T b) { return a < b; }>(table, "lt", type);
  add_comparison<T, [](T a, T b) { return a <= b; }>(table, "le", type);
  add_comparison<T, [](T a, T b) { return (a > b); }>(table, "gt", type);
  add_comparison<T, [](T a, T b) { return a >= b; }>(table, "ge", type);
  if constexpr (std::is_unsigned_v<T>) {
    add_comparison<T, [](T a, T b) { return a < b; }>(table, "lo", type);
    add_comparison<T, [](T a, T b) { return a <= b; }>(table, "ls", type);
    add_comparison<T, [](T a, T b) { return (a > b); }>(table, "hi", type);
    add_comparison<T, [](T a, T b) { return a >= b; }>(table, "hs", type);
    const std::string plain = "b" + type.substr(1);
    add_comparison<T, [](T a, T b) { return a == b; }>(table, "eq", plain);
    add_comparison<T, [](T a, T b) { return a != b; }>(table, "ne", plain);
  }
}

/// Sums of several words: d = a + b + carry, and the carry that comes out.
template <class T, bool kCarryIn, bool kCarryOut>
void add_carrying(const Instruction& i, Thread& t, T a, T b) {
  using Wide = typename Wider<T>::type;
  const Wide sum = Wide{a} + b + (kCarryIn ? t.carry : 0);
  if constexpr (kCarryOut) t.carry = static_cast<std::uint32_t>(sum >> (8 * sizeof(T)));
  t.set(i.r[0], static_cast<T>(sum));
}
template <class T, bool kIn, bool kOut>
void add_with_carry(const Instruction& i, Thread& t) {
  add_carrying<T, kIn, kOut>(i, t, t.get<T>(i.r[1]), t.get<T>(i.r[2]));
}
/// A borrow is a carry.
template <class T, bool kIn, bool kOut>
void subtract_with_carry(const Instruction& i, Thread& t) {
  using Wide = typename Wider<T>::type;
  const Wide difference =
      Wide{t.get<T>(i.r[1])} - t.get<T>(i.r[2]) - static_cast<Wide>(kIn ? t.carry : 0);
  if constexpr (kOut) t.carry = static_cast<std::uint32_t>(difference >> (8 * sizeof(T))) & 1;
  t.set(i.r[0], static_cast<T>(difference));
}
template <class T, bool kHigh, bool kIn, bool kOut>
void multiply_add_with_carry(const Instruction& i, Thread& t) {
  const T a = t.get<T>(i.r[1]), b = t.get<T>(i.r[2]);
  const T product = kHigh ? high_product(a, b) : static_cast<T>(a * b);
  add_carrying<T, kIn, kOut>(i, t, product, t.get<T>(i.r[3]));
}

/// The low words of signed and unsigned numbers are the same; of `mad.hi` only unsigned ones come
/// in pieces.
template <class T>
void add_carries(OperationTable& table) {
  const std::string width = std::to_string(8 * sizeof(T));
  for (const std::string& type : {"u" + width, "s" + width}) {
    table.add("add.cc." + type, add_with_carry<T, false, true>);
    table.add("addc." + type, add_with_carry<T, true, false>);
    table.add("addc.cc." + type, add_with_carry<T, true, true>);
    table.add("sub.cc." + type, subtract_with_carry<T, false, true>);
    table.add("subc." + type, subtract_with_carry<T, true, false>);
    table.add("subc.cc." + type, subtract_with_carry<T, true, true>);
    table.add("mad.lo.cc." + type, multiply_add_with_carry<T, false, false, true>);
    table.add("madc.lo." + type, multiply_add_with_carry<T, false, true, false>);
    table.add("madc.lo.cc." + type, multiply_add_with_carry<T, false, true, true>);
  }
  table.add("mad.hi.cc.u" + width, multiply_add_with_carry<T, true, false, true>);
  table.add("madc.hi.u" + width, multiply_add_with_carry<T, true, true, false>);
  table.add("madc.hi.cc.u" + width, multiply_add_with_carry<T, true, true, true>);
}

}  // namespace

void add_integer_operations(OperationTable& table) {
  for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      [&]<class T>(T) {
        add_arithmetic<T>(table);
        add_integer_comparisons<T>(table);
      });
  for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>([&]<class T>(T) {
    table.add("mul.wide." + type_name<T>(), multiply<T, typename Wider<T>::type>);
    table.add("mad.wide." + type_name<T>(), multiply_add_wide<T>);
  });
  for_types<std::uint32_t, std::uint64_t>([&]<class T>(T) { add_carries<T>(table); });
}

}  // namespace ptx_machine
