// The command line of `fcode-opt`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "fcode-opt/optimizer.hpp"

namespace fcode {

struct CommandOptions {
  vinterp::Options common;  // task and colours
  OptimizerOptions optimizer;
  std::string file;    // "-": standard input
  std::string output;  // empty or "-": standard output
  bool list_passes = false;
  bool expand = false;
  enum class Emit { Fcode, Cuda, Cubin };
  Emit emit = Emit::Fcode;
  int capability = 90;  // Cubin: of the devices to compile for
  bool report_fusion = false;
  bool report_statistics = false;
};

/// A description of the command line whose options are stored in `options`.
class CommandTable {
 public:
  explicit CommandTable(CommandOptions& options);
  const vinterp::CommandLine& line() const { return line_; }

 private:
  std::vector<vinterp::OptionRow> rows_;
  vinterp::CommandLine line_;
};

/// Reads the arguments (without the program's name). Throws vinterp::UsageError.
CommandOptions parse_command(std::span<const std::string> arguments);

}  // namespace fcode
