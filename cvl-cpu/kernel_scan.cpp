#include "cvl-cpu/kernel_scan.hpp"

#include <algorithm>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {

KernelScan::KernelScan(BoundPass& pass, NodeId node, ArrayId result)
    : pass_(pass),
      cpu_(pass.state().cpu),
      node_(node),
      argument_(pass.plan().nodes[node].args[0]),
      result_(result),
      type_(pass.plan().nodes[node].type),
      width_(static_cast<std::int64_t>(cpu_.element_bytes(type_))),
      kernels_(cpu_.kernels()
                   .scan[static_cast<std::size_t>(pass.plan().nodes[node].op)][type_index(type_)]) {
}

void KernelScan::open_empty() {
  if (result_ != kNone) pass_.state().arrays[result_] = cpu_.new_vector(type_, 0);
}

void KernelScan::open(std::size_t& tile_bytes, std::int64_t tiles, bool linked) {
  const SegdesId under = pass_.plan().nodes[node_].id;
  const bool single = under == kNone || pass_.state().segdes[under].count == 1;
  segments_ = single ? nullptr : &pass_.segments(under);
  const std::size_t room = tile_room(std::min(pass_.length(), fold_tile_length(cpu_)), width_);
  const BoundNode& argument = pass_.node(argument_);
  const bool aligned = reinterpret_cast<std::uintptr_t>(argument.base) % Heap::kAlignment == 0;
  in_ = nullptr;
  if (argument.mode == BoundNode::Mode::Memory && aligned) {
    in_ = argument.base;
  } else {
    Target target;
    target.node = argument_;
    target.width = static_cast<std::uint8_t>(width_);
    target.tiled = true;
    target.offset = in_offset_ = tile_bytes;
    pass_.add_target(pass_.main, target, true);
    tile_bytes += room;
  }
  out_ = nullptr;
  streamed_ = false;
  if (result_ != kNone) {
    Vector& result = pass_.state().arrays[result_];
    result = cpu_.new_vector(type_, pass_.length());
    out_ = mutable_elements<std::byte>(result);
    const auto& read = pass_.epilogue.in_memory;
    streamed_ = cpu_.streams(pass_.length() * width_) &&
                std::find(read.begin(), read.end(), node_) == read.end();
  } else if (in_ == nullptr) {
    out_offset_ = in_offset_;
  } else {
    out_offset_ = tile_bytes;
    tile_bytes += room;
  }
  prefix_ = start_of(kernels_);
  links_ = std::vector<TileLink>(linked ? static_cast<std::size_t>(tiles) + 1 : 0);
  if (linked) links_[0].publish(prefix_);
}

const std::byte* KernelScan::values(const KernelTile& tile, std::byte* tile_memory) const {
  return out_ != nullptr ? out_ : element_zero(tile_memory + out_offset_, tile.begin * width_);
}

void KernelScan::run(const KernelTile& tile, std::byte* tile_memory) {
  const std::byte* in =
      in_ != nullptr ? in_ : element_zero(tile_memory + in_offset_, tile.begin * width_);
  auto* out = const_cast<std::byte*>(values(tile, tile_memory));
  if (result_ != kNone) {
    checked_storage(cpu_, pass_.state().arrays[result_], tile.begin, tile.end);
  }
  if (pass_.length() <= tuning.small_length) {
    kernels_.small(out, in,
                   segments_ != nullptr ? segments_->all() : SegmentRun{nullptr, tile.end, 0, 1});
    return;
  }
  Segments::Begun begun;
  if (segments_ != nullptr) {
    begun = segments_->begun_in(tile.begin, tile.end);
  } else {
    begun = {0, {nullptr, pass_.length(), 0, tile.begin == 0 ? 1 : 0}, 0};
    if (tile.begin > 0) begun.run.start = pass_.length();
  }
  if (links_.empty()) {
    scan(tile, begun.run, in, out, prefix_);
    return;
  }
  const auto index = static_cast<std::size_t>(tile.index);
  const bool borders = begun.run.count > 0;
  Element total;
  kernels_.total(in, borders ? begun.last_start : tile.begin, tile.end, total.bytes);
  if (borders) links_[index + 1].publish(total);
  const bool continues = !borders || begun.run.start > tile.begin;
  Element prefix = continues ? links_[index].wait() : start_of(kernels_);
  if (!borders) {
    Element next = prefix;
    kernels_.combine(next.bytes, total.bytes);
    links_[index + 1].publish(next);
  }
  scan(tile, begun.run, in, out, prefix);
}

void KernelScan::scan(const KernelTile& tile, const SegmentRun& run, const std::byte* in,
                      std::byte* out, Element& prefix) const {
  kernels_.tile(out, in, tile.begin, tile.end, run, prefix.bytes, streamed_ && in != out, nullptr);
}

}  // namespace cvl::cpu
