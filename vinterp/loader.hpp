// From a file name to a program that is ready to run.
#pragma once

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

/// Parses and links. Without errors in `diagnostics` there is a result.
std::optional<vcode::LinkedProgram> load_program(std::shared_ptr<const vcode::Source> source,
                                                 vcode::Diagnostics& diagnostics);

/// The optimized program (fcode-opt/optimizer.hpp), ready to run.
vcode::LinkedProgram optimize_program(const vcode::LinkedProgram& program, int level,
                                      const std::vector<std::string>& disabled_passes);

}  // namespace vinterp
