// What is known of the size and the contents of a value.
#pragma once

#include <cstdint>

#include "fcode-opt/shapes/terms.hpp"

namespace fcode {

/// Values with the same number have the same elements; a descriptor counts as the vector of its
/// lengths.
using Content = std::uint32_t;

/// The shape of one value, after the shapes of Nessie ("Nessie: A NESL to CUDA compiler", 2016,
/// section on shape analysis): symbolic length, identity of the contents, equal elements.
struct Shape {
  Linear length;  // elements of a vector, segments of a descriptor
  Linear sum;     // of the elements of an INT vector; data length of a descriptor. Of a
                  // scalar it is the value
  Content content = 0;
  bool uniform = false;  // all elements (segment lengths) are equal
  Linear element;        // then: to what, if they are INT or lengths
};

}  // namespace fcode
