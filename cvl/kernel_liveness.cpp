#include "cvl/kernel_liveness.hpp"

namespace cvl {
namespace {

using vcode::Binding;
using vcode::Kernel;
using vcode::SizeId;
using vcode::Thunk;
using vcode::ThunkNode;

class Liveness {
 public:
  Liveness(const Kernel& kernel, const std::vector<SizeId>& canonical)
      : kernel_(kernel), canonical_(canonical), sizes_(kernel.sizes.size()) {
    live_.bindings.resize(kernel.bindings.size());
    live_.arrays.resize(kernel.arrays.size());
    live_.segdes.resize(kernel.segdes.size());
    live_.stored.resize(kernel.arrays.size());
  }

  KernelLiveness run() {
    for (const vcode::KernelParameter& output : kernel_.outputs) {
      if (output.segdes) {
        want_segdes(output.id);
      } else {
        want_array(output.id);
        live_.stored[output.id] = true;
      }
    }
    for (std::size_t b = kernel_.bindings.size(); b-- > 0;) {
      if (!wanted(kernel_.bindings[b])) continue;
      live_.bindings[b] = true;
      mark(kernel_.bindings[b]);
    }
    return std::move(live_);
  }

 private:
  void want_size(SizeId size) { sizes_[canonical_[size]] = true; }
  void want_array(vcode::ArrayId array) {
    live_.arrays[array] = true;
    want_size(kernel_.arrays[array].length);
  }
  void want_segdes(vcode::SegdesId segdes) {
    live_.segdes[segdes] = true;
    want_size(kernel_.segdes[segdes].count);
    want_size(kernel_.segdes[segdes].total);
  }
  void want_space(const vcode::Space& space) {
    space.segmented ? want_segdes(space.id) : want_size(space.id);
  }

  bool wanted(const Binding& binding) const {
    if (binding.kind == Binding::Kind::Assert || binding.kind == Binding::Kind::Random) return true;
    if (binding.kind == Binding::Kind::Size) return sizes_[canonical_[binding.size]];
    for (const vcode::ArrayId array : binding.arrays) {
      if (live_.arrays[array]) return true;
    }
    for (const vcode::SegdesId segdes : binding.segdes) {
      if (live_.segdes[segdes] || sizes_[canonical_[kernel_.segdes[segdes].total]]) return true;
    }
    return false;
  }

  void mark(const Binding& binding) {
    const bool once = !has_space(binding);
    if (!once) want_space(binding.space);
    if (binding.into) {
      want_space(*binding.into);
      mark(binding.defaults, canonical_[length_of_space(kernel_, *binding.into)], false);
    }
    const SizeId length = once ? 0 : canonical_[length_of_space(kernel_, binding.space)];
    for (const Thunk* thunk : thunks_of(binding)) {
      if (thunk != &binding.defaults) mark(*thunk, length, once);
    }
    for (const vcode::ArrayId table : vcode::tables_of(binding)) want_array(table);
  }

  void mark(const Thunk& thunk, SizeId length, bool once) {
    for (const ThunkNode& node : thunk.nodes) {
      switch (node.kind) {
        case ThunkNode::Kind::Size:
          want_size(node.id);
          break;
        case ThunkNode::Kind::Subscript: {
          want_array(node.id);
          const bool own = !once && thunk.nodes[node.args[0]].kind == ThunkNode::Kind::Index &&
                           canonical_[kernel_.arrays[node.id].length] == length;
          if (!own) live_.stored[node.id] = true;
          break;
        }
        default:
          if (names_descriptor(node)) want_segdes(node.id);
          break;
      }
    }
  }

  const Kernel& kernel_;
  const std::vector<SizeId>& canonical_;
  std::vector<bool> sizes_;
  KernelLiveness live_;
};

}  // namespace

KernelLiveness kernel_liveness(const Kernel& kernel, const std::vector<SizeId>& canonical) {
  return Liveness(kernel, canonical).run();
}

}  // namespace cvl
