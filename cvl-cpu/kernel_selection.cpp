// Filter and Split of a pass: a first pass over the tiles turns flags or class numbers into bit
// masks and counts them, a second one moves the values of each tile to the places that the counts
// before it give.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "cvl-cpu/kernel_byte_masks.hpp"
#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

/// What goes to one result vector and one descriptor of a selection.
struct SelectionClass {
  std::uint64_t* masks = nullptr;    // of all tiles, a spare word behind each
  Ref<Buffer> buffer;                // where they lie …
  std::uint64_t few[8];              // … unless they are few
  std::vector<std::int64_t> before;  // per tile: how many the tiles before it keep
  std::int64_t kept = 0;
  Vector lengths;  // of the new segments
  /// What a tile has of a segment that begins before it.
  struct Continued {
    std::int64_t segment = -1;  // none
    std::int64_t kept = 0;
  };
  std::vector<Continued> continued;
};

class Selection final : public KernelSelection {
 public:
  Selection(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
      : KernelSelection(pass, sink, program),
        filter_(sink.kind == PlanSink::Kind::Filter),
        columns_(sink.values.size()),
        classes_(static_cast<std::size_t>(sink.classes)),
        equal_(cpu_.kernels().with_scalars[static_cast<std::size_t>(vcode::Op::Equal)]
                                          [type_index(Type::Int)][2]),
        decisions_(class_decisions(pass.plan(), sink)) {}

  void open_empty() override {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      classes_[c].kept = 0;
      for (std::size_t k = 0; k < columns_; ++k) {
        if (Vector* result = column(c, k)) *result = cpu_.new_vector(type_of(sink_.values[k]), 0);
      }
      const std::int64_t count = sink_.under == kNone ? 1 : state_.segdes[sink_.under].count;
      put_segdes(c, Segdes::regular(count, 0));
    }
  }

  Need open(std::size_t&) override {
    by_bytes_ = filter_ && bytes_.open(pass_, program_, sink_.flag);
    segments_ = segdes() != nullptr ? &pass_.segments(sink_.under) : nullptr;
    return Need::Blocks;
  }

  void set_tiles(std::int64_t tiles, std::int64_t tile_length) override {
    words_ = tile_count(std::min(tile_length, length()), 64) + 1;
    for (SelectionClass& selected : classes_) {
      const auto words = static_cast<std::size_t>(tiles * words_);
      selected.masks = selected.few;
      if (words > std::size(selected.few)) {
        selected.buffer = cpu_.heap().allocate(words * sizeof(std::uint64_t));
        selected.masks = selected.buffer->as<std::uint64_t>();
      }
      selected.before.assign(static_cast<std::size_t>(tiles) + 1, 0);
      if (!counts_segments()) continue;
      selected.lengths = cpu_.new_vector(Type::Int, segments_->count());
      selected.continued.assign(static_cast<std::size_t>(tiles), {});
    }
  }

  void block(BlockEvaluator& values, const KernelTile& tile, std::byte*, std::int64_t begin,
             std::int64_t n) override {
    if (by_bytes_) {
      bytes_.compute(masks_at(0, tile, begin), begin, n);
    } else if (filter_) {
      flag_masks(masks_at(0, tile, begin), values.filled(sink_.flag, n), n);
    } else if (!decisions_.empty()) {
      decide(values, tile, begin, n);
    } else {
      compare(values.filled(sink_.flag, n), tile, begin, n);
    }
  }

  void end_tile(const KernelTile& tile, std::byte*, std::byte*) override {
    const std::int64_t words = tile_count(tile.end - tile.begin, 64);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      std::uint64_t* masks = masks_of(c, tile);
      masks[words] = 0;  // a segment may begin behind the last element
      std::int64_t kept = 0;
      for (std::int64_t w = 0; w < words; w += kBlockWords) {
        kept += count_bits(masks + w, std::min(kBlockWords, words - w));
      }
      classes_[c].before[static_cast<std::size_t>(tile.index) + 1] = kept;
      if (counts_segments()) count_in_segments(c, tile, words);
    }
  }

  bool place() override {
    bool moves = false;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      SelectionClass& selected = classes_[c];
      for (std::size_t t = 1; t < selected.before.size(); ++t) {
        selected.before[t] += selected.before[t - 1];
      }
      selected.kept = selected.before.back();
      for (std::size_t k = 0; k < columns_; ++k) {
        Vector* result = column(c, k);
        if (result == nullptr) continue;
        const NodeId value = sink_.values[k];
        if (pass_.is_uniform(value)) {
          *result = constant_vector(cpu_, type_of(value), selected.kept, pass_.node(value).cell);
        } else {
          *result = room_for(value, selected.kept);
          moves = true;
        }
      }
      if (segments_ == nullptr) {
        put_segdes(c, Segdes::single(selected.kept));
      } else if (counts_segments()) {
        complete_lengths(selected);
        put_segdes(c, segdes_from_lengths(cpu_, std::move(selected.lengths), selected.kept));
      } else {
        bind_total(c);
      }
    }
    return moves;
  }

  std::pair<std::int64_t, std::int64_t> wanted(const KernelTile& tile, std::int64_t begin,
                                               std::int64_t n) const override {
    std::uint64_t any[kBlockWords] = {};
    const std::int64_t words = tile_count(n, 64);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const std::uint64_t* masks =
          classes_[c].masks + tile.index * words_ + (begin - tile.begin) / 64;
      for (std::int64_t w = 0; w < words; ++w) any[w] |= masks[w];
    }
    std::int64_t first = 0, last = words;
    while (first < last && any[first] == 0) ++first;
    while (first < last && any[last - 1] == 0) --last;
    return {64 * first, std::min(64 * last, n)};
  }

  void move(BlockEvaluator& values, const KernelTile& tile, std::byte* state, std::int64_t begin,
            std::int64_t n) override {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const std::int64_t kept = kept_in(c, tile, begin, n);
      if (kept == 0) continue;
      SelectionClass& selected = classes_[c];
      const auto t = static_cast<std::size_t>(tile.index);
      std::int64_t& moved = moved_in(state, c, tile);
      const std::int64_t place = selected.before[t] + moved;
      const std::int64_t room = selected.before[t + 1] - place;
      const std::uint64_t* masks = masks_of(c, tile) + (begin - tile.begin) / 64;
      for (std::size_t k = 0; k < columns_; ++k) {
        Vector* result = column(c, k);
        if (result == nullptr || pass_.is_uniform(sink_.values[k])) continue;
        if (result->form == Form::Narrow) {
          alignas(64) std::byte bytes[kMostFlags];
          values.narrow(bytes, sink_.values[k], n);
          compress(*result, bytes, masks, n, place, kept, room);
        } else {
          compress(*result, values.at(sink_.values[k]), masks, n, place, kept, room);
        }
      }
      moved += kept;
    }
  }

  void close() override {
    for (SelectionClass& selected : classes_) selected.buffer.reset();
  }

 private:
  static constexpr std::int64_t kMostFlags = 512;  // of a block
  static constexpr std::int64_t kBlockWords = kMostFlags / 64;

  bool counts_segments() const { return segments_ != nullptr && sink_.wants_segdes; }

  std::uint64_t* masks_of(std::size_t c, const KernelTile& tile) {
    return classes_[c].masks + tile.index * words_;
  }
  std::int64_t kept_in(std::size_t c, const KernelTile& tile, std::int64_t begin,
                       std::int64_t n) const {
    const std::uint64_t* masks =
        classes_[c].masks + tile.index * words_ + (begin - tile.begin) / 64;
    return count_bits(masks, tile_count(n, 64));
  }
  /// In at most kBlockWords words, behind which there is one more.
  std::int64_t count_bits(const std::uint64_t* masks, std::int64_t words) const {
    std::int64_t before[kBlockWords + 1];
    cpu_.kernels().masks_before(before, masks, words + 1);
    return before[words];
  }
  /// How many the blocks of the tile that came before have moved.
  std::int64_t& moved_in(std::byte* state, std::size_t c, const KernelTile& tile) {
    if (c < kSinkStateBytes / sizeof(std::int64_t)) {
      return reinterpret_cast<std::int64_t*>(state)[c];
    }
    // More classes than fit the state count in the spare word behind their masks.
    return reinterpret_cast<std::int64_t&>(
        masks_of(c, tile)[tile_count(tile.end - tile.begin, 64)]);
  }

  std::uint64_t* masks_at(std::size_t c, const KernelTile& tile, std::int64_t position) {
    return masks_of(c, tile) + (position - tile.begin) / 64;
  }
  void flag_masks(std::uint64_t* masks, const std::byte* flags, std::int64_t n) const {
    cpu_.kernels().flag_masks(masks, reinterpret_cast<const std::uint8_t*>(flags), n);
  }

  /// Class numbers that conditions choose are never written out: a class has those elements whose
  /// condition is the first that holds.
  void decide(BlockEvaluator& values, const KernelTile& tile, std::int64_t begin, std::int64_t n) {
    const std::int64_t words = tile_count(n, 64);
    std::uint64_t left[kMostFlags / 64];  // elements that no condition has chosen yet
    std::uint64_t chosen[kMostFlags / 64];
    for (std::int64_t w = 0; w < words; ++w) {
      const std::int64_t bits = std::min<std::int64_t>(64, n - 64 * w);
      left[w] = ~std::uint64_t{0} >> (64 - bits);
    }
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      std::fill_n(masks_at(c, tile, begin), words, std::uint64_t{0});
    }
    for (const ClassDecision& decision : decisions_) {
      if (decision.condition == kNone) {
        std::copy_n(left, words, chosen);
      } else {
        flag_masks(chosen, values.filled(decision.condition, n), n);
      }
      const auto c = static_cast<std::size_t>(decision.number);
      std::uint64_t* masks = c < classes_.size() ? masks_at(c, tile, begin) : nullptr;
      for (std::int64_t w = 0; w < words; ++w) {
        chosen[w] &= left[w];
        left[w] ^= chosen[w];
        if (masks != nullptr) masks[w] |= chosen[w];
      }
    }
  }

  void compare(const std::byte* numbers, const KernelTile& tile, std::int64_t begin,
               std::int64_t n) {
    alignas(64) std::byte is_class[kMostFlags];
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const Vector number = make_int(cpu_.widths(), static_cast<std::int64_t>(c));
      equal_(is_class, numbers, number.payload, nullptr, n);
      flag_masks(masks_at(c, tile, begin), is_class, n);
    }
  }

  void compress(Vector& result, const std::byte* from, const std::uint64_t* masks, std::int64_t n,
                std::int64_t place, std::int64_t kept, std::int64_t room) const {
    const std::int64_t width = cpu_.stored_bytes(result);
    const CompressKernel kernel = result.form == Form::Narrow
                                      ? cpu_.kernels().compress_bytes
                                      : cpu_.kernels().compress[type_index(result.type)];
    std::byte* target = checked_storage(cpu_, result, place, place + kept) + place * width;
    if ((room - kept) * width >= static_cast<std::int64_t>(Heap::kPadding)) {
      kernel(target, from, masks, n);
      return;
    }
    alignas(64) std::byte staged[kMostFlags * sizeof(double) + Heap::kPadding];
    kernel(staged, from, masks, n);
    std::memcpy(target, staged, static_cast<std::size_t>(kept * width));
  }

  void count_in_segments(std::size_t c, const KernelTile& tile, std::int64_t words) {
    std::vector<std::int64_t> before(static_cast<std::size_t>(words) + 1);
    SelectionClass& selected = classes_[c];
    const std::uint64_t* masks = masks_of(c, tile);
    cpu_.kernels().masks_before(before.data(), masks, words + 1);
    const Segments::Begun begun = segments_->begun_in(tile.begin, tile.end);
    const std::int64_t kept = cpu_.kernels().count_in_segments(
        checked_storage(cpu_, selected.lengths, begun.first, begun.first + begun.run.count) +
            begun.first * width_of(Type::Int),
        begun.run, tile.begin, tile.end, masks, before.data());
    if (kept > 0) {
      selected.continued[static_cast<std::size_t>(tile.index)] = {begun.first - 1, kept};
    }
  }

  void complete_lengths(SelectionClass& selected) {
    const auto complete = [&](auto* lengths) {
      using I = std::remove_pointer_t<decltype(lengths)>;
      for (const SelectionClass::Continued& part : selected.continued) {
        if (part.segment >= 0) lengths[part.segment] += static_cast<I>(part.kept);
      }
      const std::int64_t begun = segments_->first_from(length());
      std::fill(lengths + begun, lengths + segments_->count(), I{0});
    };
    if (cpu_.element_bytes(Type::Int) == 4) {
      complete(mutable_elements<std::int32_t>(selected.lengths));
    } else {
      complete(mutable_elements<std::int64_t>(selected.lengths));
    }
  }

  /// Where value k of class c goes; null: nowhere.
  Vector* column(std::size_t c, std::size_t k) const {
    const ArrayId array = sink_.arrays[c * columns_ + k];
    return array == kNone ? nullptr : &state_.arrays[array];
  }

  /// The descriptors of a class: one for Split, for Filter perhaps several equal ones.
  template <class Visit>
  void for_segdes(std::size_t c, const Visit& visit) {
    if (filter_) {
      for (const SegdesId id : sink_.segdes) visit(id);
    } else {
      visit(sink_.segdes[c]);
    }
  }
  void bind_total(std::size_t c) {
    for_segdes(c, [&](SegdesId id) {
      state_.bind_size(kernel().segdes[id].total, classes_[c].kept, kernel().segdes[id].name);
    });
  }
  void put_segdes(std::size_t c, const Segdes& segdes) {
    for_segdes(c, [&](SegdesId id) { state_.put(id, segdes); });
  }

  bool filter_;
  ByteMasks bytes_;        // the flags, …
  bool by_bytes_ = false;  // … if they are of bytes in this run
  std::size_t columns_;
  std::vector<SelectionClass> classes_;
  ElementwiseKernel equal_;
  std::vector<ClassDecision> decisions_;
  const Segments* segments_ = nullptr;
  std::int64_t words_ = 0;  // masks of a tile
};

}  // namespace

std::unique_ptr<KernelSelection> KernelSelection::make(BoundPass& pass, const PlanSink& sink,
                                                       BoundProgram& program) {
  return std::make_unique<Selection>(pass, sink, program);
}

}  // namespace cvl::cpu
