// From a file name to a program that is ready to run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"
#include "vcode/source.hpp"

namespace vinterp {

/// The text of a program file, of any size. On failure the result is null and `diagnostics` has
/// the reason (CannotOpen).
std::shared_ptr<const vcode::Source> read_source(const std::string& path,
                                                 vcode::Diagnostics& diagnostics);

/// What becomes of a program between its text and its run.
struct LoadOptions {
  std::optional<int> optimize;               // level of the optimizer
  std::vector<std::string> disabled_passes;  // of the optimizer
  /// Ends the optimizer early, beside a signal that ends the run. Empty: nothing else does.
  std::function<bool()> stop{};
};

/// Parses and links, and optimizes in between if that is wanted. Without errors in `diagnostics`
/// there is a result.
std::optional<vcode::LinkedProgram> load_program(std::shared_ptr<const vcode::Source> source,
                                                 vcode::Diagnostics& diagnostics,
                                                 const LoadOptions& options = {});

}  // namespace vinterp
