// The values of a loop in machine code: operations on the lanes of vector registers, and how
// elements get there from memory and back.
#pragma once

#include <asmjit/x86.h>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

/// What a lane of a register holds. With AVX-512 flags are bits of mask registers, else lanes of 32
/// bits that are 0 or -1.
enum class Lane : std::uint8_t { I32, I64, F32, F64, Flag };

inline Lane lane_of(Type type, Widths widths) {
  if (type == Type::Bool) return Lane::Flag;
  if (type == Type::Int) return widths.int_bytes == 4 ? Lane::I32 : Lane::I64;
  return widths.float_bytes == 4 ? Lane::F32 : Lane::F64;
}
inline bool is_wide(Lane lane) {
  return lane == Lane::I64 || lane == Lane::F64;
}
inline int lane_bytes(Lane lane) {
  return is_wide(lane) ? 8 : 4;
}
inline bool is_float(Lane lane) {
  return lane == Lane::F32 || lane == Lane::F64;
}

/// The instruction of three registers for an operation; 0 when there is none.
asmjit::InstId instruction(bool avx512, vcode::Op op, Lane lane);

struct GatheredVector;

/// Writes the code for the values of a loop. What kind of loop it is, and which register holds what
/// is read, is up to the class that is derived from it.
class ValueWriter {
 public:
  using Gp = asmjit::x86::Gp;
  using KReg = asmjit::x86::KReg;
  using Mem = asmjit::x86::Mem;
  using Register = asmjit::x86::Reg;
  using Value = NativeLoop::Value;
  using Vec = asmjit::x86::Vec;

 protected:
  ValueWriter(asmjit::CodeHolder& code, const NativeLoop& loop, Isa isa, Widths widths);

  /// Begins the function, which takes the table of addresses, two numbers, one of which is the
  /// number of elements, and the position of the first element.
  void begin_function(const Gp& first, const Gp& second);
  /// Ends it: it returns whether an operation has failed. False when no code could be made.
  bool end_function();

  /// Are there operations that fail for some elements and not for others?
  bool fails_by_element() const;
  Lane lane(std::uint32_t value) const { return lane_of(loop_.values[value].type, widths_); }

  /// A register for a value in all lanes.
  Register make(Lane lane);
  Vec make_vector(Lane lane) { return make(lane).as<Vec>(); }
  void move(const Vec& out, const Vec& from) {
    avx512_ ? c_.vmovdqa64(out, from) : c_.vmovdqa(out, from);
  }
  /// The lanes of `yes` where there are flags, else those of `no`.
  void blend(const Vec& out, Lane lane, const Register& flags, const Vec& yes, const Vec& no);
  Vec vector(std::uint32_t value) const { return held_[value].as<Vec>(); }
  KReg mask(std::uint32_t value) const { return held_[value].as<KReg>(); }

  /// Calls write() for code that runs once. It does not read the table of addresses.
  template <class Write>
  void at_start(const Write& write) {
    insert_at(start_, write);
  }
  /// Calls write() for code that runs in front of the loop, each time that begins.
  template <class Write>
  void before_loop(const Write& write) {
    insert_at(before_loop_, write);
  }
  /// From here on the loop and what is in front of it may run several times.
  void begin_loop() { before_loop_ = c_.cursor(); }

  /// An integer in all lanes, for the whole function.
  Vec constant(Lane lane, std::int64_t number);
  /// 0, 1, … times `stride`, which wrap.
  asmjit::x86::Mem multiples(Lane lane, std::int64_t stride);
  void spread(const Vec& out, Lane lane, const Gp& general);

  /// The address at a place.
  Gp address(std::uint32_t place);
  /// Where elements lie from position_ + offset on.
  Mem elements(const Gp& address, Lane lane, int offset) const;
  void load(const Register& out, Lane lane, const Mem& from);
  void store(const Mem& to, Lane lane, const Register& value);
  /// The lanes that have flags only. With AVX2 not those of flags.
  void store_some(const Mem& to, Lane lane, const Register& value, const Register& flags);

  /// One element for all lanes.
  void load_one(const Register& out, Lane lane, Mem from);
  /// To be called before_loop().
  void write_uniform(std::uint32_t k);
  /// Is it to be computed from others by write_apply()?
  static bool is_applied(const Value& value) {
    return value.kind == Value::Kind::Apply || value.kind == Value::Kind::Bitwise ||
           value.kind == Value::Kind::Rotate;
  }
  void write_apply(std::uint32_t k);
  /// `one`: the index is the same in all lanes.
  void write_gather(std::uint32_t k, bool one);
  /// Flags of lanes, from a comparison.
  Register compare(vcode::Op op, Lane in, const Vec& a, const Vec& b);
  /// Reads or computes a value of the elements from position_ + offset on; not a progression.
  void write_value(std::uint32_t k, int offset);
  /// Flags of the first lanes, so many as a 32-bit number says, up to all.
  Register first_lanes(const Gp& count);
  Register no_flags();
  /// AVX-512: the bits of a mask.
  void copy_mask(const Gp& out, const KReg& mask);
  /// An INT, or a flag, which is the lowest bit.
  void copy_first_lane(const Gp& out, Lane lane, const Register& from);
  /// Puts values into the lanes that have flags.
  void replace(const Register& lanes, Lane lane, const Register& flags, const Register& by);
  /// AVX2: flags as lanes of either width.
  Vec widened(const Vec& flags, Lane to);

  asmjit::x86::Compiler c_;
  const NativeLoop& loop_;
  const Widths widths_;
  const bool avx512_;
  const int lanes_;
  Gp at_;                       // the table of addresses
  Gp position_;                 // of the first element that is computed
  std::vector<Register> held_;  // per value
  Register counted_;            // flags of lanes whose failures count; invalid: all do

 private:
  struct Divisor {
    Vec number;  // INT
    Vec by;      // FLOAT 64; of a divisor that is everywhere the same, its reciprocal
  };

  template <class Write>
  void insert_at(asmjit::BaseNode*& place, const Write& write) {
    const bool is_here = c_.cursor() == place;
    asmjit::BaseNode* here = c_.setCursor(place);
    write();
    place = c_.cursor();
    if (!is_here) c_.setCursor(here);
  }
  Vec flag_bytes(const KReg& flags);
  static bool needs_wide_lanes(const NativeLoop& loop, Widths widths);
  Vec narrowed(const Vec& lanes, Lane in);
  Register inside(const Vec& indices, const Vec& length, Lane in);
  void fetch_one(const Vec& out, const GatheredVector& from, const Vec& index, Lane index_lane,
                 const Register& flags);
  void write_simple(asmjit::InstId id, std::uint32_t k, Lane in);
  void write_other(std::uint32_t k, Lane in);
  void write_bitwise(std::uint32_t k);
  void write_rotation(std::uint32_t k);
  void write_select(std::uint32_t k);
  void write_bool_to_int(std::uint32_t k);
  void convert(const Vec& out, Lane to, const Vec& from, Lane in);
  Vec rounded(const Vec& from, Lane in, bool up);
  void write_rounded(std::uint32_t k, Lane in);
  Vec nearest(const Vec& from, Lane in);
  Divisor uniform_divisor(const Vec& number);
  Divisor divisor(const Vec& given, std::uint32_t guard);
  void write_division(std::uint32_t k);
  void note_failure(const Register& where, std::uint32_t guard);

  asmjit::BaseNode* start_ = nullptr;        // what runs once ends here, …
  asmjit::BaseNode* before_loop_ = nullptr;  // … and here what runs in front of the loop
  std::map<std::uint32_t, Gp> addresses_;
  std::map<std::pair<Lane, std::int64_t>, Vec> constants_;
  std::map<std::uint32_t, Divisor> divisors_;  // by value that is everywhere the same
  Vec byte_ones_;
  Register failed_;
};

}  // namespace cvl::cpu
