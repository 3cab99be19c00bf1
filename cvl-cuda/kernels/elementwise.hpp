// Elementwise operations as bodies of the map skeleton, and the way from a row of the operation
// table to its instantiations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/apply.hpp"
#include "cvl-cuda/kernels/map.hpp"
#include "cvl-cuda/launch.hpp"
#include "cvl-cuda/types.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

struct Absent {};
template <>
class Source<Absent> {
 public:
  Source() = default;
  explicit Source(const RawSource&) {}
  KERNEL_FN Absent operator[](std::int64_t) const { return {}; }
  template <int kCount>
  KERNEL_FN Pack<Absent, kCount> pack(std::int64_t) const {
    return {};
  }
};

template <class Functor, class R, class A, class B, class C>
struct ElementwiseBody {
  Source<A> a;
  Source<B> b;
  Source<C> c;
  Array<R> out;
  FailureSink failures;

  struct One {
    A a;
    B b;
    C c;
  };
  static constexpr int kPack =
      shape::pack_of(std::max({sizeof(R), sizeof(A), sizeof(B), sizeof(C)}));
  struct Several {
    Pack<A, kPack> a;
    Pack<B, kPack> b;
    Pack<C, kPack> c;
  };
  KERNEL_FN One load(std::int64_t i) const { return {a[i], b[i], c[i]}; }
  KERNEL_FN Several load_pack(std::int64_t i) const {
    return {a.template pack<kPack>(i), b.template pack<kPack>(i), c.template pack<kPack>(i)};
  }
  KERNEL_FN void store(std::int64_t i, const One& in) const { out[i] = apply(i, in.a, in.b, in.c); }
  KERNEL_FN void store_pack(std::int64_t i, const Several& in) const {
    Pack<R, kPack> result;
    for (int k = 0; k < kPack; ++k) {
      result.element[k] = apply(i + k, in.a.element[k], in.b.element[k], in.c.element[k]);
    }
    CVL_CUDA_TARGET::store_pack(out, i, result);
  }

 private:
  KERNEL_FN R apply(std::int64_t i, A x, [[maybe_unused]] B y, [[maybe_unused]] C z) const {
    if constexpr (std::is_same_v<B, Absent>) {
      return apply_functor<Functor, R>(x);
    } else if constexpr (std::is_same_v<C, Absent>) {
      if constexpr (ops::CanFail<Functor, A, B>) {
        if (Functor::fails(x, y)) failures.report(i, 0);
      }
      return apply_functor<Functor, R>(x, y);
    } else {
      return apply_functor<Functor, R>(x, y, z);
    }
  }
};

/// A row of the table as a type.
#define ELEMENTWISE(id, text, types, in, out, doc)                       \
  struct id##Row {                                                       \
    static constexpr vcode::Argument kArgument = vcode::Argument::types; \
    static constexpr std::string_view kIn = in, kOut = out;              \
    using Functor = ops::id;                                             \
  };
#include "vcode/opcodes.def"

/// FLOAT to FLOAT: those that need the mathematical library.
template <class Row>
inline constexpr bool kIsMath = Row::kIn == "F" && Row::kOut == "F";

constexpr char letter_at(std::string_view signature, std::size_t k) {
  return k < signature.size() ? signature[k] : '-';
}

template <class T, class I, class F, char letter>
struct ElementType;
template <class T, class I, class F>
struct ElementType<T, I, F, 'T'> : std::type_identity<T> {};
template <class T, class I, class F>
struct ElementType<T, I, F, 'I'> : std::type_identity<I> {};
template <class T, class I, class F>
struct ElementType<T, I, F, 'F'> : std::type_identity<F> {};
template <class T, class I, class F>
struct ElementType<T, I, F, 'B'> : std::type_identity<ops::Bool> {};
template <class T, class I, class F>
struct ElementType<T, I, F, '-'> : std::type_identity<Absent> {};

/// The C++ type that a letter of a signature stands for.
template <class T, class I, class F>
struct ElementTypes {
  template <char letter>
  using Of = typename ElementType<T, I, F, letter>::type;
};

template <class Row, class T, class I, class F>
void launch_typed(Device& device, const ElementwiseCall& call) {
  using Types = ElementTypes<T, I, F>;
  using A = typename Types::template Of<letter_at(Row::kIn, 0)>;
  using B = typename Types::template Of<letter_at(Row::kIn, 1)>;
  using C = typename Types::template Of<letter_at(Row::kIn, 2)>;
  using R = typename Types::template Of<Row::kOut[0]>;
  using Body = ElementwiseBody<typename Row::Functor, R, A, B, C>;
  using Kernel = MapKernel<Body>;
  const Body body{Source<A>(call.operands[0]), Source<B>(call.operands[1]),
                  Source<C>(call.operands[2]), Array<R>(static_cast<R*>(call.out), call.length),
                  call.failures};
  launch(device, blocks_for(call.length, Kernel::kTile), Kernel{body, call.length});
}

template <class Row>
void launch_row(Device& device, const ElementwiseCall& call) {
  constexpr vcode::Argument argument = Row::kArgument;
  with_int(call.widths, [&](auto int_type) {
    using I = typename decltype(int_type)::type;
    with_float(call.widths, [&](auto float_type) {
      using F = typename decltype(float_type)::type;
      if constexpr (argument == vcode::Argument::None) {
        launch_typed<Row, I, I, F>(device, call);
      } else if (call.type == Type::Int) {
        launch_typed<Row, I, I, F>(device, call);
      } else if (call.type == Type::Float) {
        if constexpr (argument != vcode::Argument::Logic) {
          launch_typed<Row, F, I, F>(device, call);
        }
      } else {
        if constexpr (argument != vcode::Argument::Number) {
          launch_typed<Row, ops::Bool, I, F>(device, call);
        }
      }
    });
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
