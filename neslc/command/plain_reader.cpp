#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "machine/interrupt.hpp"
#include "neslc/command/line_reader.hpp"

namespace neslc {
namespace {

class PlainReader : public LineReader {
 public:
  explicit PlainReader(bool prompts) : prompts_(prompts) {}

  Status read(const std::string& prompt, std::string& line) override {
    if (prompts_) {
      std::fputs(prompt.c_str(), stdout);
      std::fflush(stdout);
    }
    line.clear();
    while (true) {
      if (next_ == text_.size() && !refill()) break;
      const char c = text_[next_++];
      if (c == '\n') return Status::Line;
      line += c;
    }
    if (vinterp::pending_signal.load() != 0) return Status::Cancelled;
    return line.empty() ? Status::End : Status::Line;
  }

  void remember(const std::string&) override {}

 private:
  /// False at the end of the input and after a signal.
  bool refill() {
    char piece[4096];
    const ssize_t count = ::read(STDIN_FILENO, piece, sizeof piece);
    next_ = 0;
    text_.assign(piece, count > 0 ? static_cast<std::size_t>(count) : 0);
    return count > 0;
  }

  bool prompts_;
  std::string text_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_plain_reader() {
  return std::make_unique<PlainReader>(false);
}

#if !defined(NESL_HAVE_EDITLINE)
std::unique_ptr<LineReader> make_terminal_reader(Completer, const std::string&) {
  return std::make_unique<PlainReader>(true);
}
#endif

}  // namespace neslc
