// cvt: between all number types, with their roundings.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

template <class To, class From>
void convert_integer(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<To>(t.moved<From>(i.r[1])), static_cast<To>(t.unwritten<From>(i.r[1])));
}

/// To a whole number as <cfenv> rounds.
template <int kMode, class T>
T whole(T value) {
  switch (kMode) {
    case FE_DOWNWARD:
      return std::floor(value);
    case FE_UPWARD:
      return std::ceil(value);
    case FE_TOWARDZERO:
      return std::trunc(value);
    default:
      return std::nearbyint(value);
  }
}

/// The nearest integer that there is; NaN becomes 0, with 64 bits the highest bit alone.
template <class To, class From, int kMode>
void convert_to_integer(const Instruction& i, Thread& t) {
  using Limits = std::numeric_limits<To>;
  const From value = whole<kMode>(t.get<From>(i.r[1]));
  // 2^n, the first that is too large.
  const From end = std::ldexp(From{1}, Limits::digits);
  To result;
  if (std::isnan(value)) {
    const bool zero = sizeof(From) < 8 && sizeof(To) < 8;
    result = zero ? To{0} : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
  } else if (value >= end) {
    result = Limits::max();
  } else if (value < static_cast<From>(Limits::min())) {
    result = Limits::min();
  } else {
    result = static_cast<To>(value);
  }
  t.set(i.r[0], result);
}

template <class To, class From, int kMode>
void convert_to_float(const Instruction& i, Thread& t) {
  if constexpr (kMode == FE_TONEAREST) {
    t.set(i.r[0], result_of(static_cast<To>(t.get<From>(i.r[1]))));
  } else {
    std::fesetround(kMode);
    volatile From value = t.get<From>(i.r[1]);
    volatile To result = static_cast<To>(value);
    std::fesetround(FE_TONEAREST);
    t.set(i.r[0], result_of<To>(result));
  }
}

template <class T, int kMode>
void round_to_whole(const Instruction& i, Thread& t) {
  t.set(i.r[0], result_of(whole<kMode>(t.get<T>(i.r[1]))));
}

/// Into [0, 1]; NaN becomes 0.
template <class T>
void saturate(const Instruction& i, Thread& t) {
  const T value = t.get<T>(i.r[1]);
  t.set(i.r[0], value > 0 ? std::fmin(value, T{1}) : T{0});
}

template <class F>
void for_integers(const F& f) {
  for_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
            std::int64_t, std::uint64_t>(f);
}

template <int kMode>
void add_rounding(OperationTable& table, const std::string& mode) {
  for_types<float, double>([&]<class Float>(Float) {
    const std::string type = type_name<Float>();
    for_integers([&]<class Integer>(Integer) {
      const std::string integer = type_name<Integer>();
      table.add("cvt." + mode + "i." + integer + "." + type,
                convert_to_integer<Integer, Float, kMode>);
      table.add("cvt." + mode + "." + type + "." + integer,
                convert_to_float<Float, Integer, kMode>);
    });
    table.add("cvt." + mode + "i." + type + "." + type, round_to_whole<Float, kMode>);
  });
  table.add("cvt." + mode + ".f32.f64", convert_to_float<float, double, kMode>);
}

}  // namespace

void add_conversions(OperationTable& table) {
  for_integers([&]<class To>(To) {
    for_integers([&]<class From>(From) {
      table.add("cvt." + type_name<To>() + "." + type_name<From>(), convert_integer<To, From>);
    });
  });
  add_rounding<FE_TONEAREST>(table, "rn");
  add_rounding<FE_DOWNWARD>(table, "rm");
  add_rounding<FE_UPWARD>(table, "rp");
  add_rounding<FE_TOWARDZERO>(table, "rz");
  table.add("cvt.f64.f32", convert_to_float<double, float, FE_TONEAREST>);
  table.add("cvt.sat.f32.f32", saturate<float>);
  table.add("cvt.sat.f64.f64", saturate<double>);
}

}  // namespace ptx_machine
