// Segment structures that vector operations are tested on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "property/random.hpp"

namespace property {

struct Shape {
  std::string name;
  std::vector<std::int64_t> lengths;

  std::int64_t total() const;
};

/// Up to a few thousand elements: run in every width, several times.
std::vector<Shape> small_shapes(Random& random);
/// Sizes around powers of two, where tiles and SIMD registers end, and irregular mixtures.
std::vector<Shape> medium_shapes(Random& random);
/// One huge segment; a million tiny ones.
std::vector<Shape> large_shapes(Random& random);

}  // namespace property
