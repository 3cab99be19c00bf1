// The vector libraries under test. A further library is added to backends_under_test() and to
// nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"

namespace property {

struct BackendChoice {
  std::string name;
  std::function<std::unique_ptr<cvl::Backend>(const cvl::Widths&)> make;
};

/// One library in several configurations (thread counts), whose results must agree to the bit.
struct Library {
  std::string name;
  std::vector<BackendChoice> choices;
};

std::vector<Library> backends_under_test();

}  // namespace property
