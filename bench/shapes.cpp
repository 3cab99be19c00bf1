#include "bench/shapes.hpp"

#include <algorithm>
#include <random>

namespace bench {

std::string_view shape_name(Shape shape) {
  switch (shape) {
    case Shape::Flat:
      return "flat";
    case Shape::Uniform:
      return "uniform100";
    case Shape::Tiny:
      return "tiny0-10";
    case Shape::PowerLaw:
      return "power-law";
    default:
      return "giant";
  }
}

std::vector<std::int32_t> segment_lengths(Shape shape, std::int64_t n) {
  std::vector<std::int32_t> lengths;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> tiny(0, 10);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::int64_t left = n;
  const auto push = [&](std::int64_t length) {
    length = std::min(length, left);
    lengths.push_back(static_cast<std::int32_t>(length));
    left -= length;
  };
  if (shape == Shape::Flat) push(n);
  if (shape == Shape::Giant) push(n / 10 * 9);
  while (left > 0) {
    switch (shape) {
      case Shape::Uniform:
        push(100);
        break;
      case Shape::PowerLaw:
        push(static_cast<std::int64_t>(
            std::min(static_cast<double>(n) / 10, 1.0 / (1.0 - unit(random)))));
        break;
      default:
        push(tiny(random));
    }
  }
  if (shape == Shape::PowerLaw) std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}

}  // namespace bench
