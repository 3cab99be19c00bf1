#include "cvl-cpu/radix.hpp"

#include <bit>
#include <limits>

namespace cvl::cpu {

RankSurvey RadixKeys::survey(std::int64_t begin, std::int64_t n) const {
  const std::int64_t tile_length = tuning.survey_tile;
  const std::int64_t tiles = tile_count(n, tile_length);
  std::vector<RankSurvey> found(static_cast<std::size_t>(tiles));
  auto tile = [&](std::int64_t index) {
    // Neighbouring tiles share an element, so that nothing between them is missed.
    const std::int64_t from = std::max<std::int64_t>(index * tile_length - 1, 0);
    found[static_cast<std::size_t>(index)] =
        kernels.survey(at(begin + from), std::min((index + 1) * tile_length, n) - from, down);
  };
  cpu.scheduler().for_tiles(tiles, n * bytes, tile);
  RankSurvey all = found.front();
  for (const RankSurvey& part : found) {
    all.varying |= part.varying;
    all.least = std::min(all.least, part.least);
    all.greatest = std::max(all.greatest, part.greatest);
    all.ascending = all.ascending && part.ascending;
  }
  return all;
}

// Numbers of which the bits of `varying` differ; those between digits are skipped.
RadixPlan::RadixPlan(std::uint64_t base_key, std::uint64_t greatest_key, std::uint64_t varying,
                     DigitWidths widths)
    : base(base_key), drop(std::countr_zero(varying)), greatest((greatest_key - base_key) >> drop) {
  std::uint64_t rest = varying >> drop;
  while (rest != 0) {
    const int shift = std::countr_zero(rest);
    const int width = std::bit_width(rest) - shift;
    const bool last = width <= std::max(widths.last, widths.bits);
    const int bits = static_cast<int>(last ? width : widths.bits);
    digits.push_back({shift, bits});
    rest = last ? 0 : rest >> (shift + bits) << (shift + bits);
  }
}

RadixPlan::RadixPlan(const RankSurvey& keys, DigitWidths widths)
    : RadixPlan(0, keys.greatest, keys.varying, widths) {
  // Low bits that are the same in all keys are zero in all differences.
  const std::uint64_t range = (keys.greatest - keys.least) >> drop;
  const std::uint64_t differences =
      std::numeric_limits<std::uint64_t>::max() >> std::countl_zero(range);
  RadixPlan from_least(keys.least, keys.greatest, differences << drop, widths);
  if (from_least.digits.size() <= digits.size()) *this = std::move(from_least);
}

}  // namespace cvl::cpu
