// Bits: logic, shifts, fields, permutations of bytes, and plain moves.
#include <algorithm>
#include <bit>

#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

template <class T>
constexpr std::uint32_t kBits = 8 * sizeof(T);

// Shifts by the width or more shift everything out.
template <class T>
void shift_left(const Instruction& i, Thread& t) {
  const auto count = t.get<std::uint32_t>(i.r[2]);
  const auto value = static_cast<std::uint64_t>(t.get<T>(i.r[1]));
  t.set(i.r[0], count >= kBits<T> ? T{0} : static_cast<T>(value << count));
}
template <class T>
void shift_right(const Instruction& i, Thread& t) {
  const std::uint32_t count = std::min(t.get<std::uint32_t>(i.r[2]), kBits<T> - 1);
  const bool all = t.get<std::uint32_t>(i.r[2]) >= kBits<T> && std::is_unsigned_v<T>;
  t.set(i.r[0], all ? T{0} : static_cast<T>(t.get<T>(i.r[1]) >> count));
}

/// Both words as one, shifted; kClamp: by at most 32, else by the count modulo 32.
template <bool kLeft, bool kClamp>
void funnel_shift(const Instruction& i, Thread& t) {
  const std::uint64_t both =
      std::uint64_t{t.get<std::uint32_t>(i.r[2])} << 32 | t.get<std::uint32_t>(i.r[1]);
  const auto asked = t.get<std::uint32_t>(i.r[3]);
  const std::uint32_t count = kClamp ? std::min(asked, 32u) : asked % 32;
  t.set(i.r[0], static_cast<std::uint32_t>(kLeft ? both << count >> 32 : both >> count));
}

template <class T>
void extract_field(const Instruction& i, Thread& t) {
  const T value = t.get<T>(i.r[1]);
  const std::uint32_t position = t.get<std::uint32_t>(i.r[2]) & 0xFF;
  const std::uint32_t length = t.get<std::uint32_t>(i.r[3]) & 0xFF;
  // Beyond the last bit there are copies of the sign.
  const bool sign =
      std::is_signed_v<T> && length != 0 &&
      (static_cast<std::uint64_t>(value) >> std::min(position + length - 1, kBits<T> - 1) & 1) != 0;
  std::uint64_t result = sign ? ~std::uint64_t{0} : 0;
  for (std::uint32_t k = 0; k < length && position + k < kBits<T> && k < kBits<T>; ++k) {
    const std::uint64_t bit = static_cast<std::uint64_t>(value) >> (position + k) & 1;
    result = (result & ~(std::uint64_t{1} << k)) | bit << k;
  }
  t.set(i.r[0], static_cast<T>(result));
}

template <class T>
void insert_field(const Instruction& i, Thread& t) {
  const T field = t.get<T>(i.r[1]);
  T result = t.get<T>(i.r[2]);
  const std::uint32_t position = t.get<std::uint32_t>(i.r[3]) & 0xFF;
  const std::uint32_t length = t.get<std::uint32_t>(i.r[4]) & 0xFF;
  for (std::uint32_t k = 0; k < length && position + k < kBits<T>; ++k) {
    const T bit = static_cast<T>(field >> k & 1) << (position + k);
    result = static_cast<T>((result & ~(T{1} << (position + k))) | bit);
  }
  t.set(i.r[0], result);
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

/// Any function of three bits: bit k of the table is the result for a, b, c = the bits of k.
void logic_by_table(const Instruction& i, Thread& t) {
  const auto a = t.get<std::uint32_t>(i.r[1]), b = t.get<std::uint32_t>(i.r[2]),
             c = t.get<std::uint32_t>(i.r[3]), table = t.get<std::uint32_t>(i.r[4]);
  std::uint32_t result = 0;
  for (std::uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  t.set(i.r[0], result);
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
  std::uint64_t result = 0;
  for (int k = 0; k < kPieces; ++k) {
    const auto piece =
        static_cast<std::uint64_t>(t.get<Piece>(i.r[static_cast<std::size_t>(k) + 1]));
    result |= piece << (8 * sizeof(Piece) * static_cast<std::size_t>(k));
  }
  t.set(i.r[0], result);
}
template <class Piece, int kPieces>
void unpack(const Instruction& i, Thread& t) {
  const auto value = t.get<std::uint64_t>(i.r[kPieces]);
  for (int k = 0; k < kPieces; ++k) {
    t.set(i.r[static_cast<std::size_t>(k)],
          static_cast<Piece>(value >> (8 * sizeof(Piece) * static_cast<std::size_t>(k))));
  }
}

template <class T>
void move(const Instruction& i, Thread& t) {
  t.set(i.r[0], t.get<T>(i.r[1]));
}

template <class T>
void add_logic(OperationTable& table, const std::string& type) {
  table.add("and." + type, binary<T, [](T a, T b) { return a & b; }>);
  table.add("or." + type, binary<T, [](T a, T b) { return a | b; }>);
  table.add("xor." + type, binary<T, [](T a, T b) { return a != b ? a ^ b : 0; }>);
  if constexpr (std::is_same_v<T, bool>) {
    table.add("not." + type, unary<T, [](T a) { return !a; }>);
  } else {
    table.add("not." + type, unary<T, [](T a) { return ~a; }>);
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
    table.add("brev." + type, unary<T, reversed<T>>);
  });
  table.add("shf.l.wrap.b32", funnel_shift<true, false>);
  table.add("shf.l.clamp.b32", funnel_shift<true, true>);
  table.add("shf.r.wrap.b32", funnel_shift<false, false>);
  table.add("shf.r.clamp.b32", funnel_shift<false, true>);
  table.add("prmt.b32", ternary<std::uint32_t, permute_bytes>);
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
