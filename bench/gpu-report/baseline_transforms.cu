// Transformations of the vendor's libraries, and gather and scatter as its loop over indices.
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <curand_kernel.h>

#include "bench/gpu-report/baselines.hpp"

namespace gpu_report {
namespace {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct PlusThree {
  __device__ int operator()(int a) const { return a + 3; }
};
struct Smaller {
  __device__ std::uint8_t operator()(int a, int b) const { return a < b; }
};
struct TwicePlus {
  __device__ double operator()(double x, double y) const { return x * 2 + y; }
};
struct Exponential {
  __device__ double operator()(double a) const { return exp(a); }
};

/// Four numbers below 100 from each state, as cuRAND's documentation proposes.
struct PhiloxFour {
  uint4* out;
  __device__ void operator()(std::int64_t i) const {
    curandStatePhilox4_32_10_t state;
    curand_init(1, static_cast<unsigned long long>(i), 0, &state);
    const uint4 bits = curand4(&state);
    out[i] = {bits.x % 100, bits.y % 100, bits.z % 100, bits.w % 100};
  }
};

struct InOrder {
  int* places;
  __device__ void operator()(std::int64_t i) const { places[i] = static_cast<int>(i); }
};

struct GatherStep {
  const int* in;
  const int* places;
  int* out;
  __device__ void operator()(std::int64_t i) const { out[i] = in[places[i]]; }
};
struct ScatterStep {
  const int* in;
  const int* places;
  int* out;
  __device__ void operator()(std::int64_t i) const { out[places[i]] = in[i]; }
};

template <class T, class R, class Functor>
Run unary(const BaselineCall& call, Functor functor) {
  return [=, n = call.length, stream = call.stream, in = operand<T>(call, 0),
          out = device_array<R>(call.length)] {
    CUDA_CALL(cub::DeviceTransform::Transform(in.get(), out.get(), n, functor, stream));
  };
}

template <class T, class R, class Functor>
Run binary(const BaselineCall& call, Functor functor) {
  return [=, n = call.length, stream = call.stream, a = operand<T>(call, 0),
          b = operand<T>(call, 1), out = device_array<R>(call.length)] {
    CUDA_CALL(cub::DeviceTransform::Transform(cuda::std::make_tuple(a.get(), b.get()), out.get(), n,
                                              functor, stream));
  };
}

/// Places are operand 1, or 0, 1, 2, ...
template <class Step>
Run moving(const BaselineCall& call, bool in_order) {
  const std::int64_t n = call.length;
  std::shared_ptr<const int> places;
  if (in_order) {
    const auto made = device_array<int>(n);
    CUDA_CALL(cudaDeviceSynchronize());
    CUDA_CALL(cub::DeviceFor::Bulk(n, InOrder{made.get()}, call.stream));
    places = made;
  } else {
    places = operand<int>(call, 1);
  }
  return [=, stream = call.stream, in = operand<int>(call, 0), out = device_array<int>(n)] {
    CUDA_CALL(cub::DeviceFor::Bulk(n, Step{in.get(), places.get(), out.get()}, stream));
  };
}

}  // namespace

Run transform_baseline(const BaselineCall& call) {
  const std::int64_t n = call.length;
  switch (call.which) {
    case Baseline::Copy:
      return [=, stream = call.stream, in = operand<int>(call, 0), out = device_array<int>(n)] {
        CUDA_CALL(cudaMemcpyAsync(out.get(), in.get(), static_cast<std::size_t>(n) * sizeof(int),
                                  cudaMemcpyDeviceToDevice, stream));
      };
    case Baseline::Add:
      return binary<int, int>(call, Plus());
    case Baseline::AddConstant:
      return unary<int, int>(call, PlusThree());
    case Baseline::Less:
      return binary<int, std::uint8_t>(call, Smaller());
    case Baseline::Exp:
      return unary<double, double>(call, Exponential());
    case Baseline::AddFloat:
      return binary<double, double>(call, Plus());
    case Baseline::FusedMap:
      return binary<double, double>(call, TwicePlus());
    case Baseline::Random:
      return [=, stream = call.stream, out = device_array<uint4>(n / 4 + 1)] {
        CUDA_CALL(cub::DeviceFor::Bulk((n + 3) / 4, PhiloxFour{out.get()}, stream));
      };
    case Baseline::Gather:
      return moving<GatherStep>(call, false);
    case Baseline::GatherInOrder:
      return moving<GatherStep>(call, true);
    case Baseline::Scatter:
      return moving<ScatterStep>(call, false);
    default:
      return {};
  }
}

}  // namespace gpu_report
