// Every pass, once.
#pragma once

#include <span>
#include <string_view>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/optimizer.hpp"
#include "fcode-opt/shapes/known_walks.hpp"

namespace fcode {

/// What passes share.
struct PassState {
  OptimizerReport& report;
  KnownWalks walks;
};

struct Pass {
  std::string_view name;
  int level;                                      // from which on it runs
  bool simplifies;                                // runs again behind each pass that does not
  std::string_view text;                          // what it does, for --list-passes
  bool (*run)(Module& module, PassState& state);  // returns whether something has changed
};

/// In the order in which they run. Those in front of the first that simplifies see the program as
/// it was made. Behind each other pass that does not simplify, those that do run once, and at the
/// end until nothing changes.
std::span<const Pass> pass_table();

/// Is there a pass of that name?
bool is_pass(std::string_view name);

/// The table as text, one pass on a line.
std::string list_passes();

}  // namespace fcode
