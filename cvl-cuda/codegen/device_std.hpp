// What kernels use of the C++ standard library, for NVRTC, which has no headers of its own. Only
// ever read by NVRTC: it stands for <cstddef>, <cstdint>, <cstring>, <cmath>, <limits> and
// <type_traits>.
#pragma once

namespace std {

using size_t = decltype(sizeof(0));
enum class byte : unsigned char {};

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
static_assert(sizeof(int64_t) == 8);

using ::memcpy;

template <class T, T kValue>
struct integral_constant {
  static constexpr T value = kValue;
};
template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <class T>
struct type_identity {
  using type = T;
};
template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<const T> : type_identity<T> {};
template <class T>
using remove_const_t = typename remove_const<T>::type;

template <bool kFirst, class A, class B>
struct conditional : type_identity<A> {};
template <class A, class B>
struct conditional<false, A, B> : type_identity<B> {};
template <bool kFirst, class A, class B>
using conditional_t = typename conditional<kFirst, A, B>::type;

template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, int32_t> || is_same_v<T, int64_t> || is_same_v<T, uint8_t> ||
    is_same_v<T, uint16_t> || is_same_v<T, uint32_t> || is_same_v<T, uint64_t>;

template <class T>
struct make_unsigned : type_identity<T> {};
template <>
struct make_unsigned<int32_t> : type_identity<uint32_t> {};
template <>
struct make_unsigned<int64_t> : type_identity<uint64_t> {};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <class T>
struct numeric_limits {
  static constexpr bool kSigned = T(-1) < T(0);
  static constexpr int digits = 8 * sizeof(T) - (kSigned ? 1 : 0);
  static __host__ __device__ constexpr T max() {
    return static_cast<T>(~T(0) ^ (kSigned ? T(1) << digits : T(0)));
  }
  static __host__ __device__ constexpr T min() { return static_cast<T>(~max()); }
};
template <class T, auto kInfinity, auto kNaN>
struct FloatingLimits {
  static __host__ __device__ constexpr T infinity() { return __builtin_bit_cast(T, kInfinity); }
  static __host__ __device__ constexpr T quiet_NaN() { return __builtin_bit_cast(T, kNaN); }
};
template <>
struct numeric_limits<float> : FloatingLimits<float, 0x7F800000, 0x7FC00000> {};
template <>
struct numeric_limits<double> : FloatingLimits<double, 0x7FF0000000000000, 0x7FF8000000000000> {};

#define DEVICE_MATH(name)                                \
  __host__ __device__ inline float name(float value) {   \
    return ::name##f(value);                             \
  }                                                      \
  __host__ __device__ inline double name(double value) { \
    return ::name(value);                                \
  }
DEVICE_MATH(floor)
DEVICE_MATH(ceil)
DEVICE_MATH(sqrt)
DEVICE_MATH(log)
DEVICE_MATH(exp)
DEVICE_MATH(sin)
DEVICE_MATH(cos)
DEVICE_MATH(tan)
DEVICE_MATH(asin)
DEVICE_MATH(acos)
DEVICE_MATH(atan)
DEVICE_MATH(sinh)
DEVICE_MATH(cosh)
DEVICE_MATH(tanh)
#undef DEVICE_MATH

}  // namespace std

using std::size_t;
