// Where the prompt reads its lines from: a terminal with editing and history, or anything else.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace neslc {

/// What may stand at the end of a line.
struct Completion {
  std::size_t begin = 0;                // where in the line the word to complete begins
  std::vector<std::string> candidates;  // in order
};
using Completer = std::function<Completion(std::string_view line)>;

class LineReader {
 public:
  enum class Status { Line, End, Cancelled };  // Cancelled: by Ctrl-C

  virtual ~LineReader() = default;
  /// Reads a line without its end.
  virtual Status read(const std::string& prompt, std::string& line) = 0;
  /// Adds an entry to the history.
  virtual void remember(const std::string& entry) = 0;
};

/// For a terminal, with line editing if the program was built with a library for it. `history`: the
/// file that keeps the history between sessions; empty: none.
std::unique_ptr<LineReader> make_terminal_reader(Completer completer, const std::string& history);
/// For pipes and files: no prompt, no history.
std::unique_ptr<LineReader> make_plain_reader();

}  // namespace neslc
