// The optimizer's files use the names of the intermediate form as their own.
#pragma once

#include "ir/module.hpp"

namespace fcode {

using namespace ir;

}  // namespace fcode
