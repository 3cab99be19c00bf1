// Values: flat vectors, segment descriptors, pairs.
//
// All three are small handles that are copied and moved freely; bulk data is reference counted.
// A value is immutable as soon as somebody else can see it: an operation may overwrite a buffer
// only when it holds the last reference (Ref::unique).
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "cvl/heap.hpp"
#include "cvl/tuning.hpp"
#include "vcode/types.hpp"

namespace cvl {

using vcode::Type;

/// Widths of the element types, chosen when a run starts.
struct Widths {
  std::uint8_t int_bytes = 4;    // 4 or 8
  std::uint8_t float_bytes = 8;  // 4 or 8

  std::size_t element_bytes(Type type) const {
    return type == Type::Int ? int_bytes : type == Type::Float ? float_bytes : 1;
  }
  bool operator==(const Widths&) const = default;
};

/// How the elements of a vector are held.
enum class Form : std::uint8_t {
  Inline,       // in the payload: the whole vector has at most kInlineBytes
  Dense,        // in a buffer, one after the other
  Narrow,       // INT only, all from 0 to 255, as in texts: in a buffer, each in one byte
  Constant,     // all equal to the element in the payload
  Progression,  // INT only: payload holds start and step as 64-bit integers, reduced to INT on use
};

inline constexpr std::size_t kInlineBytes = 16;

/// A flat vector of INT, BOOL or FLOAT. Elements have the widths of the run; BOOL takes one byte
/// and is always 0 or 1. A scalar is a vector of length 1, and vectors that fit the payload are
/// Inline: they never touch the heap. (Results that a device has still to deliver are Dense however
/// short they are; Backend::download waits for them.)
struct Vector {
  Type type = Type::Int;
  Form form : 7 = Form::Inline;
  /// Are all elements known to be INTs from 0 to 255? Always of Narrow ones; of others a library
  /// may say so, to make Narrow ones of them and others.
  bool fits_bytes : 1 = false;
  std::int64_t length = 0;
  alignas(8) std::byte payload[kInlineBytes] = {};
  Ref<Buffer> buffer;  // Dense and Narrow only

  /// Do the elements lie in a buffer?
  bool is_buffered() const { return form == Form::Dense || form == Form::Narrow; }
  /// Do the elements lie in memory one after the other, each as wide as its type is in the run?
  bool is_plain() const { return form == Form::Inline || form == Form::Dense; }

  /// Elements in the payload, for Inline (all of them) and Constant (element 0).
  template <class T>
  T* inline_elements() {
    return reinterpret_cast<T*>(payload);
  }
  template <class T>
  const T* inline_elements() const {
    return reinterpret_cast<const T*>(payload);
  }
  std::int64_t progression_start() const { return inline_elements<std::int64_t>()[0]; }
  std::int64_t progression_step() const { return inline_elements<std::int64_t>()[1]; }

  /// Does a vector of `length` elements of `element_bytes` each fit the payload?
  static bool fits_inline(std::int64_t length, std::size_t element_bytes) {
    // Compact vectors may be so long that their size in bytes does not fit 64 bits.
    const auto count = static_cast<std::uint64_t>(length);
    const auto most = static_cast<std::uint64_t>(heap_tuning.inline_bytes);
    return count <= most && count * element_bytes <= most;
  }
};

/// Lengths of a general descriptor and what is derived from them on demand.
struct SegdesTables : Counted {
  Vector lengths;     // INT, one per segment; LENGTHS hands this very vector out
  Ref<Buffer> index;  // what a library on the host finds segments by; made when first asked for
  /// Where the segments start, INT: kept when it has been asked for twice, as by each round of a
  /// recursion that reads rows of the same matrix.
  Vector starts;
  bool starts_asked_for = false;
  Ref<Buffer> device_offsets;  // count+1 64-bit starts of segments in the memory of a device
  static void destroy(SegdesTables* tables) { delete tables; }
};

/// A segment descriptor: `count` segments over `total` elements. Uniform descriptors (all segments
/// of one length; every descriptor with at most one segment is uniform) have no tables.
struct Segdes {
  Type type = Type::Segdes;
  bool uniform = true;
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t uniform_length = 0;  // of each segment, when uniform
  Ref<SegdesTables> tables;         // otherwise

  static Segdes single(std::int64_t length) { return regular(1, length); }
  static Segdes regular(std::int64_t count, std::int64_t length) {
    Segdes result;
    result.count = count;
    result.total = count * length;
    result.uniform_length = length;
    return result;
  }
};

struct PairNode;

/// Two values as one.
struct Pair {
  Type type = Type::Pair;
  Ref<PairNode> node;
};

/// One entry of the machine's stack. The members begin with their type, which tells which one it
/// is.
class Value {
 public:
  Value() noexcept : vector_() {}
  Value(Vector vector) noexcept : vector_(std::move(vector)) {}
  Value(Segdes segdes) noexcept : segdes_(std::move(segdes)) {}
  Value(Pair pair) noexcept : pair_(std::move(pair)) {}
  Value(const Value& other) noexcept { copy_from(other); }
  Value(Value&& other) noexcept { move_from(std::move(other)); }
  Value& operator=(const Value& other) noexcept { return *this = Value(other); }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      destroy();
      move_from(std::move(other));
    }
    return *this;
  }
  ~Value() { destroy(); }

  /// Int, Bool or Float for a vector; Segdes; Pair.
  Type type() const { return vector_.type; }
  bool is_vector() const { return vcode::is_data(type()); }

  /// REQUIRES: the value is of that kind.
  Vector& vector() { return vector_; }
  const Vector& vector() const { return vector_; }
  Segdes& segdes() { return segdes_; }
  const Segdes& segdes() const { return segdes_; }
  Pair& pair() { return pair_; }
  const Pair& pair() const { return pair_; }

 private:
  void copy_from(const Value& other) noexcept {
    if (other.is_vector()) {
      new (&vector_) Vector(other.vector_);
    } else if (other.type() == Type::Segdes) {
      new (&segdes_) Segdes(other.segdes_);
    } else {
      new (&pair_) Pair(other.pair_);
    }
  }
  void move_from(Value&& other) noexcept {
    if (other.is_vector()) {
      new (&vector_) Vector(std::move(other.vector_));
    } else if (other.type() == Type::Segdes) {
      new (&segdes_) Segdes(std::move(other.segdes_));
    } else {
      new (&pair_) Pair(std::move(other.pair_));
    }
  }
  void destroy() noexcept {
    if (is_vector()) {
      vector_.~Vector();
    } else if (type() == Type::Segdes) {
      segdes_.~Segdes();
    } else {
      pair_.~Pair();
    }
  }

  union {
    Vector vector_;
    Segdes segdes_;
    Pair pair_;
  };
};

struct PairNode : Counted {
  Value first, second;
  PairNode* next_doomed = nullptr;  // links the nodes that destroy() still has to delete
  /// Takes nested pairs apart without recursion: they may be nested as deeply as memory allows.
  static void destroy(PairNode* node);
};

Value make_pair(Value first, Value second);

/// Bytes of memory that the elements of a vector take; none in the forms that hold but a rule.
std::size_t stored_bytes(const Widths& widths, const Vector& vector);

/// The length of the longest of these vectors, or of what the longest descriptor describes: its
/// segments or their elements. REQUIRES: vectors and descriptors only.
std::int64_t longest_of(const Value* values, std::size_t count);

/// A scalar (or other vector that fits the payload) from host elements of the run's width.
template <class T>
Vector make_scalar(Type type, T element) {
  Vector result;
  result.type = type;
  result.length = 1;
  std::memcpy(result.payload, &element, sizeof element);
  return result;
}

/// An INT scalar of the run's width. Throws Failure (CountOverflow) when `number` does not fit.
Vector make_int(const Widths& widths, std::int64_t number);
Vector make_bool(bool flag);
Vector make_float(const Widths& widths, double number);

}  // namespace cvl
