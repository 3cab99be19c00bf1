#include "property/shapes.hpp"

#include <cmath>
#include <numeric>

namespace property {
namespace {

std::vector<std::int64_t> equal_lengths(std::int64_t count, std::int64_t length) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(count), length);
}

std::vector<std::int64_t> random_lengths(Random& random, std::int64_t count, std::int64_t least,
                                         std::int64_t greatest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) lengths.push_back(random.between(least, greatest));
  return lengths;
}

/// Many short segments, few long ones.
std::vector<std::int64_t> power_law(Random& random, std::int64_t count, double longest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    const double length = std::pow(random.unit() + 1e-9, -0.8) - 1;
    lengths.push_back(static_cast<std::int64_t>(std::fmin(length, longest)));
  }
  return lengths;
}

}  // namespace

std::int64_t Shape::total() const {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::vector<Shape> small_shapes(Random& random) {
  std::vector<Shape> shapes = {
      {"no segments", {}},
      {"one empty segment", {0}},
      {"several empty segments", equal_lengths(7, 0)},
      {"one element", {1}},
      {"empty first", {0, 5, 3}},
      {"empty in the middle", {4, 0, 6}},
      {"empty last", {2, 9, 0}},
      {"runs of empty ones", {0, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0, 17, 0, 0}},
      {"many empty ones around one", {}},
      {"elements alone", equal_lengths(65, 1)},
      {"uniform pairs", equal_lengths(33, 2)},
      {"uniform, 7 each", equal_lengths(100, 7)},
      {"uniform, 64 each", equal_lengths(17, 64)},
      {"tiny segments", random_lengths(random, 400, 0, 10)},
      {"mixture", random_lengths(random, 30, 0, 200)},
      {"power law", power_law(random, 300, 1000)},
      {"long, then short", {2000, 1, 1, 0, 1}},
      {"short, then long", {1, 0, 1, 1, 2000}},
  };
  shapes[8].lengths = equal_lengths(200, 0);
  shapes[8].lengths[100] = 3;
  for (const std::int64_t size :
       {2,  3,  4,   5,   7,   8,   9,   15,  16,  17,  31,  32,   33,   63,
        64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025}) {
    shapes.push_back({"one segment of " + std::to_string(size), {size}});
  }
  return shapes;
}

std::vector<Shape> medium_shapes(Random& random) {
  const std::int64_t shrink = shrink_factor();
  std::vector<Shape> shapes = {
      {"many tiny", random_lengths(random, 20000 / shrink, 0, 10)},
      {"many of a few hundred", random_lengths(random, 200 / shrink, 0, 600)},
      {"power law", power_law(random, 5000 / shrink, 50000)},
      {"uniform, 100 each", equal_lengths(700 / shrink, 100)},
      {"uniform, 3 each", equal_lengths(30001 / shrink, 3)},
      {"two halves", {40000 / shrink, 40001 / shrink}},
  };
  for (const int exponent : {12, 14, 16, 18}) {
    const std::int64_t size = std::int64_t{1} << exponent;
    if (shrink > 1 && exponent > 14) break;
    for (const std::int64_t length : {size - 1, size, size + 1}) {
      shapes.push_back({"one segment of " + std::to_string(length), {length}});
    }
    // A boundary just before, at and after the end of a tile.
    shapes.push_back(
        {"boundaries around " + std::to_string(size), {size - 1, 1, 0, 1, size - 1, 0, size, 2}});
  }
  return shapes;
}

std::vector<Shape> large_shapes(Random& random) {
  const std::int64_t shrink = shrink_factor();
  return {
      {"one huge segment", {300'000 / shrink}},
      {"huge among empty ones", {0, 0, 300'000 / shrink, 0, 1, 0}},
      {"many tiny ones", random_lengths(random, 200'000 / shrink, 0, 10)},
  };
}

}  // namespace property
