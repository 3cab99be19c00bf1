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

/// A permutation of 0 ... 2^bits - 1 without any order: steps that can each be undone.
struct Shuffle {
  int* places;
  int bits;
  __device__ void operator()(std::int64_t i) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    auto x = static_cast<std::uint64_t>(i);
    for (int round = 0; round < 4; ++round) {
      x = (x * 0x9E3779B97F4A7C15u + 0x7F4A7C15u) & mask;
      x ^= x >> ((bits + 1) / 2);
    }
    places[i] = static_cast<int>(x);
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
Work unary(std::int64_t n, cudaStream_t stream, Functor functor) {
  return [=, in = device_array<T>(n), out = device_array<R>(n)] {
    CUDA_CALL(cub::DeviceTransform::Transform(in.get(), out.get(), n, functor, stream));
  };
}

template <class T, class R, class Functor>
Work binary(std::int64_t n, cudaStream_t stream, Functor functor) {
  return [=, a = device_array<T>(n), b = device_array<T>(n), out = device_array<R>(n)] {
    CUDA_CALL(cub::DeviceTransform::Transform(cuda::std::make_tuple(a.get(), b.get()), out.get(), n,
                                              functor, stream));
  };
}

template <class Step>
Work moving(std::int64_t n, bool in_order, cudaStream_t stream) {
  const auto in = device_array<int>(n), places = device_array<int>(n), out = device_array<int>(n);
  int bits = 0;
  while ((std::int64_t{1} << bits) < n) ++bits;
  if (in_order) {
    CUDA_CALL(cub::DeviceFor::Bulk(n, InOrder{places.get()}, stream));
  } else {
    CUDA_CALL(cub::DeviceFor::Bulk(n, Shuffle{places.get(), bits}, stream));
  }
  return [=] {
    CUDA_CALL(cub::DeviceFor::Bulk(n, Step{in.get(), places.get(), out.get()}, stream));
  };
}

}  // namespace

Work transform_baseline(Baseline which, std::int64_t n, cudaStream_t stream) {
  switch (which) {
    case Baseline::Copy:
      return [=, in = device_array<int>(n), out = device_array<int>(n)] {
        CUDA_CALL(cudaMemcpyAsync(out.get(), in.get(), static_cast<std::size_t>(n) * sizeof(int),
                                  cudaMemcpyDeviceToDevice, stream));
      };
    case Baseline::Add:
      return binary<int, int>(n, stream, Plus());
    case Baseline::AddConstant:
      return unary<int, int>(n, stream, PlusThree());
    case Baseline::Less:
      return binary<int, std::uint8_t>(n, stream, Smaller());
    case Baseline::Exp:
      return unary<double, double>(n, stream, Exponential());
    case Baseline::AddFloat:
      return binary<double, double>(n, stream, Plus());
    case Baseline::Random:
      return [=, out = device_array<uint4>(n / 4 + 1)] {
        CUDA_CALL(cub::DeviceFor::Bulk((n + 3) / 4, PhiloxFour{out.get()}, stream));
      };
    case Baseline::Gather:
      return moving<GatherStep>(n, false, stream);
    case Baseline::GatherInOrder:
      return moving<GatherStep>(n, true, stream);
    case Baseline::Scatter:
      return moving<ScatterStep>(n, false, stream);
    default:
      return {};
  }
}

}  // namespace gpu_report
