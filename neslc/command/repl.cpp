#include "neslc/command/repl.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cli/build_info.hpp"
#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "neslc/command/colon_commands.hpp"
#include "neslc/command/commands.hpp"
#include "neslc/command/completer.hpp"
#include "neslc/command/line_reader.hpp"

namespace neslc {
namespace {

constexpr const char* kPrompt = "nesl> ";
constexpr const char* kContinued = "   .. ";

/// $NESL_HISTORY, or nesl/history in the folder for states of programs.
std::string history_file() {
  if (const char* const file = std::getenv("NESL_HISTORY")) return file;
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != 0) {
    return std::string(state) + "/nesl/history";
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr ? std::string() : std::string(home) + "/.local/state/nesl/history";
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isspace(c) != 0; });
}

/// Commands that nothing can follow need no `;`.
bool is_complete_command(std::string_view line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
    line.remove_suffix(1);
  }
  return line == "help" || line == "?" || line == "exit" || line == "lisp";
}

class Repl {
 public:
  explicit Repl(Toplevel& top)
      : top_(top),
        terminal_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0),
        reader_(terminal_
                    ? make_terminal_reader(
                          [&](std::string_view line) { return complete(top.session(), line); },
                          history_file())
                    : make_plain_reader()) {}

  int run() {
    if (terminal_) {
      top_.print(
          fmt::format("nesl {} on {}\nhelp; lists the commands, :help more; Ctrl-D leaves.\n",
                      vinterp::kBuildInfo.version, top_.evaluator().backend().description()));
    }
    while (!top_.finished()) {
      vinterp::pending_signal.store(0);
      vinterp::handle_interrupts();
      std::string line;
      switch (reader_->read(pending_.empty() ? kPrompt : kContinued, line)) {
        case LineReader::Status::Line:
          add(line);
          break;
        case LineReader::Status::Cancelled:
          if (!terminal_) return 128 + SIGINT;
          pending_.clear();
          break;
        case LineReader::Status::End:
          finish();
          if (!terminal_) guarded([&] { return top_.finish_background(); });
          return terminal_ ? kOk : status_;
      }
    }
    return terminal_ ? kOk : status_;
  }

 private:
  void add(const std::string& line) {
    ++lines_;
    const bool blank = is_blank(line);
    if (pending_.empty() && blank) return;
    if (pending_.empty()) first_line_ = lines_;
    const bool complete = pending_.empty() && is_complete_command(line);
    pending_ += line + (complete ? ";\n" : "\n");
    // At a terminal an empty line ends a form whose `;` was forgotten.
    consume(terminal_ && blank);
  }

  /// The rest of the input, which has no line end or no `;`.
  void finish() {
    if (!pending_.empty()) consume(true);
    if (pending_.empty()) return;
    const auto source = source_of(std::exchange(pending_, {}));
    guarded([&] { return top_.process(source); });
  }

  /// Carries out what is complete.
  void consume(bool end_wanted) {
    const std::size_t begin = pending_.find_first_not_of(" \t\r\n");
    if (begin != std::string::npos && pending_[begin] == ':') {
      colon_command(end_wanted);
      return;
    }
    const auto source = source_of(pending_);
    Parsed parsed = parse_program(source, {.interactive = true});
    if (parsed.incomplete && end_wanted) {
      Parsed ended = parse_program(source);
      if (!ended.forms.empty() && ended.forms.back().form) parsed = std::move(ended);
    }
    if (!parsed.incomplete || !parsed.forms.empty()) remember();
    if (!parsed.forms.empty()) ++inputs_;
    top_.session().announce(parsed.forms);
    std::size_t done = 0;
    for (const ParsedForm& form : parsed.forms) {
      done = form.end;
      bool told = false;  // by the evaluation that was interrupted
      guarded([&] {
        const int status = top_.process(form);
        told = status > kSignalStatus;
        return status;
      });
      const bool interrupted = vinterp::pending_signal.load() != 0;
      if (interrupted && !told) top_.print_error("Interrupted.\n");
      if (top_.finished() || interrupted) {
        pending_.clear();
        return;
      }
    }
    drop(parsed.incomplete ? done : pending_.size());
  }

  /// Forgets the beginning of what is pending; what is left keeps its lines and columns.
  void drop(std::size_t done) {
    const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(done);
    first_line_ += static_cast<std::uint32_t>(std::count(pending_.begin(), end, '\n'));
    const std::size_t line_end = done == 0 ? std::string::npos : pending_.rfind('\n', done - 1);
    const std::size_t column = line_end == std::string::npos ? done : done - line_end - 1;
    pending_ = std::string(column, ' ') + pending_.substr(done);
    if (is_blank(pending_)) pending_.clear();
  }

  void colon_command(bool end_wanted) {
    if (!end_wanted && is_incomplete(pending_)) return;
    remember();
    const std::string text = std::exchange(pending_, {});
    guarded([&] {
      const auto source = source_of(text);
      ++inputs_;
      run_colon_command(top_, *source);
      return kOk;
    });
  }

  /// Errors end one form, never the session.
  template <class Action>
  void guarded(const Action& action) {
    vcode::Diagnostic diagnostic;
    try {
      keep(action());
      return;
    } catch (NoValue& none) {
      return keep(top_.present(top_.runner().failed(std::move(none.evaluation))));
    } catch (const CommandError& error) {
      diagnostic = diagnostic_of(error);
    } catch (const cvl::Failure& failure) {
      diagnostic = vinterp::diagnostic_of(failure);
    } catch (const std::bad_alloc&) {
      diagnostic.code = vcode::ErrorCode::OutOfMemory;
      diagnostic.message = "out of memory";
    }
    keep(top_.complain(diagnostic, nullptr));
  }

  void keep(int status) {
    if (status != kOk) status_ = status;
  }

  void remember() {
    std::string entry = pending_;
    while (!entry.empty() && std::isspace(static_cast<unsigned char>(entry.back())) != 0) {
      entry.pop_back();
    }
    if (!entry.empty()) reader_->remember(entry);
  }

  /// At a terminal, where nobody counts the lines, each input has a number.
  std::shared_ptr<const vcode::Source> source_of(const std::string& text) {
    if (!terminal_) {
      return std::make_shared<const vcode::Source>("standard input", text, first_line_);
    }
    return std::make_shared<const vcode::Source>(fmt::format("input{}", inputs_ + 1), text);
  }

  Toplevel& top_;
  bool terminal_;
  std::unique_ptr<LineReader> reader_;
  std::string pending_;           // begins with a form that is not complete
  std::uint32_t lines_ = 0;       // that were read
  std::uint32_t first_line_ = 1;  // of what is pending
  int inputs_ = 0;
  int status_ = kOk;
};

}  // namespace

int run_repl(Toplevel& top) {
  return Repl(top).run();
}

}  // namespace neslc
