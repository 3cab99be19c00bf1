// Elements that lie side by side and belong to one thread, a run: moved 16 bytes at a time.
//
// Where each thread moves its own run, the lanes of a warp touch as many lines of memory with each
// access, and the cache takes these one by one. So the threads of a warp move their runs together,
// lane beside lane, and turn the elements around in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/kernels/warp.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// As many elements as are moved at once, of a run of `count`, which is a power of two.
template <class T>
constexpr int piece_of_run(int count) {
  const int most = 16 / static_cast<int>(sizeof(T));
  return count < most ? count : most;
}

/// The greatest of the sizes.
template <class... Sizes>
constexpr int widest(Sizes... sizes) {
  std::size_t most = 0;
  ((most = sizes > most ? sizes : most), ...);
  return static_cast<int>(most);
}

/// Each thread moves its own run. In what follows `from` is the first position of the calling
/// thread's run, a multiple of kCount.
struct OwnRuns {
  struct Room {};
  OwnRuns() = default;
  template <class AnyRoom>
  explicit KERNEL_FN OwnRuns(AnyRoom&) {}

  /// Are all positions that the thread moves before `end`?
  template <int kCount>
  static KERNEL_FN bool whole(std::int64_t from, std::int64_t end) {
    return from + kCount <= end;
  }
  /// Calls take(k, element) kCount times. REQUIRES: the source is dense.
  template <int kCount, class T, class Take>
  static KERNEL_FN void load(const Source<T>& source, std::int64_t from, const Take& take) {
    constexpr int kPiece = piece_of_run<T>(kCount);
    for (int k = 0; k < kCount; k += kPiece) {
      const Pack<T, kPiece> piece = source.template dense_pack<kPiece>(from + k);
      for (int j = 0; j < kPiece; ++j) take(k + j, piece.element[j]);
    }
  }
  /// Makes of what load() took the elements at from + k, for all k; element(k) is a place.
  template <int kCount, class T, class Element>
  KERNEL_FN void turn(const Element&) const {}
  /// Stores element(k) at from + k, for all k.
  template <int kCount, class T, class Element>
  KERNEL_FN void store(const Array<T>& out, std::int64_t from, const Element& element) const {
    constexpr int kPiece = piece_of_run<T>(kCount);
    for (int k = 0; k < kCount; k += kPiece) {
      Pack<T, kPiece> piece;
      for (int j = 0; j < kPiece; ++j) piece.element[j] = element(k + j);
      store_pack(out, from + k, piece);
    }
  }
};

#if defined(CVL_CUDA_WARPS)
inline constexpr bool kWarpRuns = true;

/// The threads of a warp move their runs together, and do all of the following at the same time.
/// They turn as many pieces of each run at a time as fill half a line of memory.
template <int kThreads>
class WarpRuns {
 public:
  static constexpr int kMostPieces = 4;
  /// One of nine pieces stays free, so that threads that walk their runs use different banks.
  struct Room {
    alignas(16) unsigned char pieces[kThreads / kWarp][kWarp * kMostPieces * 9 / 8][16];
  };
  explicit __device__ WarpRuns(Room& room) : pieces_(room.pieces[warp_index()]) {}

  template <int kCount>
  static __device__ bool whole(std::int64_t from, std::int64_t end) {
    return from + (kWarp - lane_index()) * kCount <= end;
  }
  template <int kCount, class T, class Take>
  static __device__ void load(const Source<T>& source, std::int64_t from, const Take& take) {
    constexpr int kPiece = piece_of_run<T>(kCount);
    for (int k = 0; k < kCount; k += kPiece) {
      const Pack<T, kPiece> piece = source.template dense_pack<kPiece>(from + moved<kCount, T>(k));
      for (int j = 0; j < kPiece; ++j) take(k + j, piece.element[j]);
    }
  }
  template <int kCount, class T, class Element>
  __device__ void turn(const Element& element) const {
    constexpr int kPiece = piece_of_run<T>(kCount), kPieces = pieces_turned<T>(kCount);
    using Piece = Pack<T, kPiece>;
    if constexpr (kPieces > 1) {
      for (int from = 0; from < kCount; from += kPieces * kPiece) {
        for (int k = 0; k < kPieces; ++k) {
          Piece& piece = place<Piece>(k * kWarp + lane_index());
          for (int j = 0; j < kPiece; ++j) piece.element[j] = element(from + k * kPiece + j);
        }
        __syncwarp();
        for (int k = 0; k < kPieces; ++k) {
          const Piece piece = place<Piece>(lane_index() * kPieces + k);
          for (int j = 0; j < kPiece; ++j) element(from + k * kPiece + j) = piece.element[j];
        }
        __syncwarp();
      }
    }
  }
  template <int kCount, class T, class Element>
  __device__ void store(const Array<T>& out, std::int64_t from, const Element& element) const {
    constexpr int kPiece = piece_of_run<T>(kCount), kPieces = pieces_turned<T>(kCount);
    using Piece = Pack<T, kPiece>;
    if constexpr (kPieces > 1) {
      for (int first = 0; first < kCount; first += kPieces * kPiece) {
        for (int k = 0; k < kPieces; ++k) {
          Piece& piece = place<Piece>(lane_index() * kPieces + k);
          for (int j = 0; j < kPiece; ++j) piece.element[j] = element(first + k * kPiece + j);
        }
        __syncwarp();
        for (int k = 0; k < kPieces; ++k) {
          store_pack(out, from + moved<kCount, T>(first + k * kPiece),
                     place<Piece>(k * kWarp + lane_index()));
        }
        __syncwarp();
      }
    } else {
      OwnRuns().store<kCount>(out, from, element);
    }
  }

 private:
  /// Pieces of a run that are turned together.
  template <class T>
  static constexpr int pieces_turned(int count) {
    const int pieces = count / piece_of_run<T>(count);
    return pieces < kMostPieces ? pieces : kMostPieces;
  }
  /// Where the piece lies, counted from the thread's own run, that the thread moves while its warp
  /// moves those of position k of all runs and of the positions behind it.
  template <int kCount, class T>
  static __device__ int moved(int k) {
    constexpr int kPiece = piece_of_run<T>(kCount), kPieces = pieces_turned<T>(kCount);
    const int turned = k / (kPieces * kPiece), piece = k / kPiece % kPieces * kWarp + lane_index();
    return (piece / kPieces - lane_index()) * kCount +
           (turned * kPieces + piece % kPieces) * kPiece;
  }
  template <class Piece>
  __device__ Piece& place(int number) const {
    return *reinterpret_cast<Piece*>(pieces_[number + number / 8]);
  }

  unsigned char (*pieces_)[16];
};
#else
inline constexpr bool kWarpRuns = false;

template <int kThreads>
using WarpRuns = OwnRuns;
#endif

}  // namespace cvl::cuda::CVL_CUDA_TARGET
