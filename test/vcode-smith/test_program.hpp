// A program and what it reads.
#pragma once

#include <string>
#include <vector>

#include "reference/value.hpp"
#include "vcode/program.hpp"

namespace smith {

struct TestProgram {
  vcode::Program code;
  std::vector<reference::Ints> input = {};  // one vector for each READ INT

  std::string input_text() const {
    std::string text;
    for (const reference::Ints& ints : input) text += reference::format(ints);
    return text;
  }
};

}  // namespace smith
