// Ways of cutting n elements into segments.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

enum class Shape {
  Flat,      // one segment
  Uniform,   // segments of 100
  Tiny,      // random lengths from 0 to 10, mean 5
  PowerLaw,  // lengths drawn with P(length > x) proportional to 1/x, up to n/10: a few giants, many
             // ones
  Giant,     // one segment with nine tenths of the elements among tiny ones
};

std::string_view shape_name(Shape shape);

/// Segment lengths that add up to exactly n. The same for every call.
std::vector<std::int32_t> segment_lengths(Shape shape, std::int64_t n);

}  // namespace bench
