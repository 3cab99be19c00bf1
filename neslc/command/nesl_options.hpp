// The command line of `nesl`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "neslc/bench/bench_command.hpp"
#include "neslc/command/toplevel.hpp"

namespace neslc {

struct NeslOptions {
  std::string command;             // one of the table in nesl_options.cpp
  std::vector<std::string> files;  // at most one; "-": standard input
  std::string expression;          // empty: none
  std::string output;              // of compile; empty: standard output
  ShowOptions show;
  std::int64_t piece_length = kPieceLength;  // of streams, in elements
  bool collect = false;                      // streams that are needed a second time
  bench::Plan bench;                         // only of bench
  bench::Files bench_files;
  vinterp::Options machine;  // `task` too
  std::string error_code;    // of explain
};

/// `program` is the name that the command was called by: `neslc` stands for `nesl compile`. Throws
/// vinterp::UsageError.
NeslOptions parse_nesl_options(const std::string& program, std::span<const std::string> arguments);

/// For help, manual and completions.
const vinterp::CommandLine& nesl_command_line();

}  // namespace neslc
