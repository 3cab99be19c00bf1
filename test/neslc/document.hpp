// Runs the code blocks of a Markdown document, and compares what they print with what it shows.
//
// A block ```nesl FILE is a file. In a block ```console
//   - `$ COMMAND` runs a command of the shell, and what follows is its output;
//   - `nesl> FORM`, continued by `   .. `, is typed at the prompt, and what follows is the answer.
//   The
//     session goes on in later blocks until `$ nesl` begins another; what nesl says about itself
//     then, before the first prompt, is not compared.
// With `figures` behind `console` any number may stand for any other, and any unit of time; the
// rest of an output is left out behind a line `...`. The lines of a block ```sh, which take too
// long for a test, begin with a file of the project or a known command. Blocks ```text, ```ebnf and
// ``` are for reading only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace neslc::testing {

struct Block {
  std::vector<std::string> info;  // the words behind the fence
  std::vector<std::string> lines;
  std::size_t line = 0;  // of the document, where the block begins

  const std::string& kind() const;
};

std::string text_of(const std::vector<std::string>& lines);

std::vector<Block> blocks_of(const std::string& document);

/// Runs all blocks in one folder, in their order; failed comparisons are failed checks. Returns how
/// many commands and prompts were compared.
int check_document(const std::filesystem::path& document);

}  // namespace neslc::testing
