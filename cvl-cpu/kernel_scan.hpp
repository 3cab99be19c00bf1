// The scans of a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/tile_link.hpp"

namespace cvl::cpu {

/// One Scan node: its argument is evaluated for a whole tile, then scanned, and then what depends
/// on it is evaluated. Order of combination and hand-over from tile to tile are those of the
/// operation (scan.cpp), and so are the bits of FLOAT results.
class KernelScan {
 public:
  /// `result` is the array that stores the scan, or kNone.
  KernelScan(BoundPass& pass, NodeId node, ArrayId result);

  void open_empty();
  /// Makes room. `linked`: several threads will work on `tiles` tiles.
  void open(std::size_t& tile_bytes, std::int64_t tiles, bool linked);
  /// Scans a tile whose arguments have been evaluated.
  void run(const KernelTile& tile, std::byte* tile_memory);
  /// Element 0 of the results of a tile.
  const std::byte* values(const KernelTile& tile, std::byte* tile_memory) const;
  NodeId node() const { return node_; }

 private:
  void scan(const KernelTile& tile, const SegmentRun& run, const std::byte* in, std::byte* out,
            Element& prefix) const;

  BoundPass& pass_;
  CpuBackend& cpu_;
  NodeId node_, argument_;
  ArrayId result_;
  Type type_;
  std::int64_t width_;
  const ScanKernels& kernels_;
  const Segments* segments_ = nullptr;
  const std::byte* in_ = nullptr;  // element 0, if the arguments lie in memory …
  std::size_t in_offset_ = 0;      // … else they lie here in the memory of a tile
  std::byte* out_ = nullptr;       // the same for the results
  std::size_t out_offset_ = 0;
  bool streamed_ = false;
  Element prefix_{};  // one thread
  std::vector<TileLink> links_;
};

}  // namespace cvl::cpu
