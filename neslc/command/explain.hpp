// The stages of the compilation of one expression as text.
#pragma once

#include <string>

#include "neslc/evaluation/evaluator.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

/// The expression and its parts with their types, an outline.
std::string typed_text(const Body& body);
/// The flattened functions: vectors by name, structured conditionals.
std::string flat_text(const ir::Module& module);

}  // namespace neslc
