// Bits: logic, shifts, fields, permutations of bytes, and plain moves.
#include <algorithm>
#include <bit>

#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

template <class T>
constexpr std::uint32_t kBits = 8 * sizeof(T);

/// Where a bit goes does not depend on what it is: what is unwritten goes there, too.
template <class T, class F>
void move_bits(const Instruction& i, Thread& t, std::uint32_t from, const F& function) {
  const auto value = function(t.moved<T>(from));
  t.set(i.r[0], value, static_cast<decltype(value)>(function(t.unwritten<T>(from))));
}
template <class T, class F>
void move_bits(const Instruction& i, Thread& t, std::uint32_t a, std::uint32_t b,
               const F& function) {
  const auto value = function(t.moved<T>(a), t.moved<T>(b));
  t.set(i.r[0], value,
        static_cast<decltype(value)>(function(t.unwritten<T>(a), t.unwritten<T>(b))));
}

template <class T>
T inverted(T bits) {
  return static_cast<T>(bits ^ (std::is_same_v<T, bool> ? T{1} : static_cast<T>(-1)));
}

/// A bit of the result is written when it is the same whatever the unwritten ones are.
template <class T>
void logical_and(const Instruction& i, Thread& t) {
  const auto a = t.moved<T>(i.r[1]), b = t.moved<T>(i.r[2]);
  const auto no_a = t.unwritten<T>(i.r[1]), no_b = t.unwritten<T>(i.r[2]);
  t.set(i.r[0], static_cast<T>(a & b), static_cast<T>((no_a | no_b) & (a | no_a) & (b | no_b)));
}
template <class T>
void logical_or(const Instruction& i, Thread& t) {
  const auto a = t.moved<T>(i.r[1]), b = t.moved<T>(i.r[2]);
  const auto no_a = t.unwritten<T>(i.r[1]), no_b = t.unwritten<T>(i.r[2]);
  t.set(i.r[0], static_cast<T>(a | b),
        static_cast<T>((no_a | no_b) & (inverted(a) | no_a) & (inverted(b) | no_b)));
}
template <class T>
void logical_xor(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<T>(t.moved<T>(i.r[1]) ^ t.moved<T>(i.r[2])),
        static_cast<T>(t.unwritten<T>(i.r[1]) | t.unwritten<T>(i.r[2])));
}
template <class T>
void logical_not(const Instruction& i, Thread& t) {
  t.set(i.r[0], inverted(t.moved<T>(i.r[1])), t.unwritten<T>(i.r[1]));
}

// Shifts by the width or more shift everything out.
template <class T>
void shift_left(const Instruction& i, Thread& t) {
  const auto count = t.get<std::uint32_t>(i.r[2]);
  move_bits<T>(i, t, i.r[1], [&](T value) {
    return count >= kBits<T> ? T{0} : static_cast<T>(static_cast<std::uint64_t>(value) << count);
  });
}
template <class T>
void shift_right(const Instruction& i, Thread& t) {
  const std::uint32_t count = std::min(t.get<std::uint32_t>(i.r[2]), kBits<T> - 1);
  const bool all = t.get<std::uint32_t>(i.r[2]) >= kBits<T> && std::is_unsigned_v<T>;
  move_bits<T>(i, t, i.r[1], [&](T value) { return all ? T{0} : static_cast<T>(value >> count); });
}

/// Both words as one, shifted; kClamp: by at most 32, else by the count modulo 32.
template <bool kLeft, bool kClamp>
void funnel_shift(const Instruction& i, Thread& t) {
  const auto asked = t.get<std::uint32_t>(i.r[3]);
  const std::uint32_t count = kClamp ? std::min(asked, 32u) : asked % 32;
  move_bits<std::uint32_t>(
      i, t, i.r[1], i.r[2], [&](std::uint32_t low, std::uint32_t high) -> std::uint32_t {
        const std::uint64_t both = std::uint64_t{high} << 32 | low;
        return static_cast<std::uint32_t>(kLeft ? both << count >> 32 : both >> count);
      });
}

template <class T>
T field_of(T value, std::uint32_t position, std::uint32_t length) {
  // Beyond the last bit there are copies of the sign.
  const bool sign =
      std::is_signed_v<T> && length != 0 &&
      (static_cast<std::uint64_t>(value) >> std::min(position + length - 1, kBits<T> - 1) & 1) != 0;
  std::uint64_t result = sign ? ~std::uint64_t{0} : 0;
  for (std::uint32_t k = 0; k < length && position + k < kBits<T> && k < kBits<T>; ++k) {
    const std::uint64_t bit = static_cast<std::uint64_t>(value) >> (position + k) & 1;
    result = (result & ~(std::uint64_t{1} << k)) | bit << k;
  }
  return static_cast<T>(result);
}
template <class T>
void extract_field(const Instruction& i, Thread& t) {
  const std::uint32_t position = t.get<std::uint32_t>(i.r[2]) & 0xFF;
  const std::uint32_t length = t.get<std::uint32_t>(i.r[3]) & 0xFF;
  move_bits<T>(i, t, i.r[1], [&](T value) { return field_of(value, position, length); });
}

template <class T>
void insert_field(const Instruction& i, Thread& t) {
  const std::uint32_t position = t.get<std::uint32_t>(i.r[3]) & 0xFF;
  const std::uint32_t length = t.get<std::uint32_t>(i.r[4]) & 0xFF;
  move_bits<T>(i, t, i.r[1], i.r[2], [&](T field, T result) {
    for (std::uint32_t k = 0; k < length && position + k < kBits<T>; ++k) {
      const T bit = static_cast<T>(field >> k & 1) << (position + k);
      result = static_cast<T>((result & ~(T{1} << (position + k))) | bit);
    }
    return result;
  });
}

/// Each of four selectors takes one of eight bytes, or its sign alone.
std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selectors) {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t result = 0;
  for (std::uint32_t k = 0; k < 4; ++k) {
    const std::uint32_t selector = selectors >> (4 * k) & 0xF;
    const auto byte = static_cast<std::uint8_t>(bytes >> (8 * (selector & 7)));
    const std::uint8_t taken = (selector & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xFF : 0;
    result |= std::uint32_t{taken} << (8 * k);
  }
  return result;
}

void permute(const Instruction& i, Thread& t) {
  const auto selectors = t.get<std::uint32_t>(i.r[3]);
  move_bits<std::uint32_t>(i, t, i.r[1], i.r[2], [&](std::uint32_t low, std::uint32_t high) {
    return permute_bytes(low, high, selectors);
  });
}

/// Any function of three bits: bit k of the table is the result for a, b, c = the bits of k.
void logic_by_table(const Instruction& i, Thread& t) {
  const auto table = t.get<std::uint32_t>(i.r[4]);
  std::uint32_t zero = 0, one = 0;  // bits that may be so
  for (std::uint32_t row = 0; row < 8; ++row) {
    std::uint32_t possible = ~0u;
    for (std::uint32_t k = 0; k < 3; ++k) {
      const auto value = t.moved<std::uint32_t>(i.r[k + 1]);
      possible &=
          ((row >> (2 - k) & 1) != 0 ? value : ~value) | t.unwritten<std::uint32_t>(i.r[k + 1]);
    }
    ((table >> row & 1) != 0 ? one : zero) |= possible;
  }
  t.set(i.r[0], one, one & zero);
}

template <class T>
T reversed(T value) {
  T result = 0;
  for (std::uint32_t k = 0; k < kBits<T>; ++k) {
    result = static_cast<T>(result << 1 | (value >> k & 1));
  }
  return result;
}

template <class T, auto kFunction>
void count(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<std::uint32_t>(kFunction(t.get<T>(i.r[1]))));
}

/// A register from pieces, the lowest first, and back.
template <class Piece, int kPieces>
void pack(const Instruction& i, Thread& t) {
  std::uint64_t result = 0, unwritten = 0;
  for (std::size_t k = 0; k < kPieces; ++k) {
    const std::size_t at = 8 * sizeof(Piece) * k;
    result |= std::uint64_t{t.moved<Piece>(i.r[k + 1])} << at;
    unwritten |= std::uint64_t{t.unwritten<Piece>(i.r[k + 1])} << at;
  }
  t.set(i.r[0], result, unwritten);
}
template <class Piece, int kPieces>
void unpack(const Instruction& i, Thread& t) {
  const Register from = t.registers[i.r[kPieces]];
  for (std::size_t k = 0; k < kPieces; ++k) {
    const std::size_t at = 8 * sizeof(Piece) * k;
    t.set(i.r[k], static_cast<Piece>(from.value >> at), static_cast<Piece>(from.unwritten >> at));
  }
}

template <class T>
void move(const Instruction& i, Thread& t) {
  t.set(i.r[0], t.moved<Bits<T>>(i.r[1]), t.unwritten<Bits<T>>(i.r[1]));
}

template <class T>
void add_logic(OperationTable& table, const std::string& type) {
  table.add("and." + type, logical_and<T>);
  table.add("or." + type, logical_or<T>);
  table.add("xor." + type, logical_xor<T>);
  table.add("not." + type, logical_not<T>);
  if constexpr (!std::is_same_v<T, bool>) {
    table.add("cnot." + type, unary<T, [](T a) { return a == 0 ? 1 : 0; }>);
    table.add("shl." + type, shift_left<T>);
    table.add("shr." + type, shift_right<T>);
    table.add("selp." + type, select<T>);
  }
  table.add("mov." + type, move<T>);
}

}  // namespace

void add_bit_operations(OperationTable& table) {
  add_logic<bool>(table, "pred");
  add_logic<std::uint16_t>(table, "b16");
  add_logic<std::uint32_t>(table, "b32");
  add_logic<std::uint64_t>(table, "b64");
  for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
            float, double>([&]<class T>(T) { table.add("mov." + type_name<T>(), move<T>); });
  for_types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      [&]<class T>(T) { table.add("shr." + type_name<T>(), shift_right<T>); });
  for_types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      [&]<class T>(T) { table.add("bfe." + type_name<T>(), extract_field<T>); });
  for_types<std::uint32_t, std::uint64_t>([&]<class T>(T) {
    const std::string type = "b" + std::to_string(kBits<T>);
    table.add("bfi." + type, insert_field<T>);
    table.add("popc." + type, count<T, [](T a) { return std::popcount(a); }>);
    table.add("clz." + type, count<T, [](T a) { return std::countl_zero(a); }>);
    // Of 0 there is no first bit: -1.
    table.add("bfind.shiftamt." + type_name<T>(),
              count<T, [](T a) { return a == 0 ? -1 : std::countl_zero(a); }>);
    table.add("brev." + type, unary<T, reversed<T>>);
  });
  table.add("shf.l.wrap.b32", funnel_shift<true, false>);
  table.add("shf.l.clamp.b32", funnel_shift<true, true>);
  table.add("shf.r.wrap.b32", funnel_shift<false, false>);
  table.add("shf.r.clamp.b32", funnel_shift<false, true>);
  table.add("prmt.b32", permute);
  table.add("lop3.b32", logic_by_table);
  table.add("mov.b32.pack2", pack<std::uint16_t, 2>);
  table.add("mov.b32.pack4", pack<std::uint8_t, 4>);
  table.add("mov.b64.pack2", pack<std::uint32_t, 2>);
  table.add("mov.b64.pack4", pack<std::uint16_t, 4>);
  table.add("mov.b32.unpack2", unpack<std::uint16_t, 2>);
  table.add("mov.b32.unpack4", unpack<std::uint8_t, 4>);
  table.add("mov.b64.unpack2", unpack<std::uint32_t, 2>);
  table.add("mov.b64.unpack4", unpack<std::uint16_t, 4>);
}

}  // namespace ptx_machine
