// Makes a program smaller as long as it fails.
#pragma once

#include <functional>

#include "program.hpp"

namespace neslc::random_test {

/// `fails`: does this program still show the defect?
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace neslc::random_test
