// Line editing with libedit: history, completion with Tab, incremental search with Ctrl-R.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <histedit.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "neslc/command/line_reader.hpp"

namespace neslc {
namespace {

constexpr int kHistorySize = 2000;

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

/// The candidates in columns.
void list(const std::vector<std::string>& candidates) {
  std::size_t width = 0;
  for (const std::string& candidate : candidates) width = std::max(width, candidate.size() + 2);
  const std::size_t columns = std::max<std::size_t>(1, terminal_width() / width);
  std::fputc('\n', stdout);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool last = i + 1 == candidates.size() || (i + 1) % columns == 0;
    std::printf("%-*s%s", last ? 0 : static_cast<int>(width), candidates[i].c_str(),
                last ? "\n" : "");
  }
  std::fflush(stdout);
}

std::string common_prefix(const std::vector<std::string>& words) {
  std::string prefix = words.front();
  for (const std::string& word : words) {
    const auto end = std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end()).first;
    prefix.erase(end, prefix.end());
  }
  return prefix;
}

class EditlineReader final : public LineReader {
 public:
  EditlineReader(Completer completer, std::string history_file)
      : completer_(std::move(completer)),
        history_file_(std::move(history_file)),
        editor_(el_init("nesl", stdin, stdout, stderr)),
        history_(history_init()) {
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, prompt_of);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_SIGNAL, 0);
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_ADDFN, "nesl-complete", "Complete the word", complete);
    el_set(editor_, EL_ADDFN, "nesl-cancel", "Give up the line", cancel);
    el_set(editor_, EL_BIND, "^I", "nesl-complete", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);
    // At the prompt Ctrl-C is a key, during an evaluation a signal.
    el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
    // Else the terminal throws away output after the signal, which may be the answer to it.
    el_set(editor_, EL_SETTY, "-x", "+noflsh", nullptr);
    el_set(editor_, EL_BIND, "^C", "nesl-cancel", nullptr);
    el_set(editor_, EL_BIND, "^Z", "ed-ignore", nullptr);
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistorySize);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
  }
  ~EditlineReader() override {
    history_end(history_);
    el_end(editor_);
  }
  EditlineReader(const EditlineReader&) = delete;
  EditlineReader& operator=(const EditlineReader&) = delete;

  Status read(const std::string& prompt, std::string& line) override {
    prompt_ = prompt;
    cancelled_ = false;
    int count = 0;
    const char* const text = el_gets(editor_, &count);
    if (cancelled_) return Status::Cancelled;
    if (text == nullptr || count <= 0) {
      std::fputc('\n', stdout);
      return Status::End;
    }
    line.assign(text, static_cast<std::size_t>(count));
    if (line.ends_with('\n')) line.pop_back();
    return Status::Line;
  }

  void remember(const std::string& entry) override {
    HistEvent event;
    history(history_, &event, H_ENTER, entry.c_str());
    if (history_file_.empty()) return;
    std::error_code ignored;  // without a history file the session goes on
    std::filesystem::create_directories(std::filesystem::path(history_file_).parent_path(),
                                        ignored);
    history(history_, &event, H_SAVE, history_file_.c_str());
  }

 private:
  static EditlineReader& self(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<EditlineReader*>(data);
  }

  static char* prompt_of(EditLine* editor) { return self(editor).prompt_.data(); }

  static unsigned char cancel(EditLine* editor, int) {
    std::fputs("^C\n", stdout);
    self(editor).cancelled_ = true;
    return CC_NEWLINE;
  }

  static unsigned char complete(EditLine* editor, int) {
    const LineInfo* const info = el_line(editor);
    const std::string_view before(info->buffer,
                                  static_cast<std::size_t>(info->cursor - info->buffer));
    const Completion completion = self(editor).completer_(before);
    if (completion.candidates.empty()) return CC_REFRESH_BEEP;
    const std::string prefix = common_prefix(completion.candidates);
    const std::size_t typed = before.size() - completion.begin;
    if (prefix.size() > typed) {
      // What was typed in another case is replaced.
      el_deletestr(editor, static_cast<int>(typed));
      el_insertstr(editor, prefix.c_str());
      return CC_REFRESH;
    }
    if (completion.candidates.size() == 1) return CC_REFRESH_BEEP;
    list(completion.candidates);
    return CC_REDISPLAY;
  }

  Completer completer_;
  std::string history_file_;
  std::string prompt_;
  bool cancelled_ = false;
  EditLine* editor_;
  History* history_;
};

}  // namespace

std::unique_ptr<LineReader> make_terminal_reader(Completer completer, const std::string& history) {
  return std::make_unique<EditlineReader>(std::move(completer), history);
}

}  // namespace neslc
