#include "document.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrompt = "nesl> ";
constexpr std::string_view kContinued = "   .. ";
constexpr std::string_view kCommand = "$ ";

/// At the prompt messages name the input by its number, in a pipe by its line.
std::string without_place(const std::string& line) {
  static const std::regex place(R"(^(standard )?input\d*:\d+:(\d+: ))");
  static const std::regex number(R"(^ *\d+ \|)");
  return std::regex_replace(std::regex_replace(line, place, "input:$2"), number, "    1 |");
}

std::string without_figures(const std::string& line) {
  static const std::regex number(R"([0-9]+([.,][0-9]+)?( (ns|us|ms|s)\b)?)");
  static const std::regex blanks(R"( +|-+)");
  return std::regex_replace(std::regex_replace(line, number, "0"), blanks, " ");
}

struct Shown {
  std::string line;
  bool figures;  // its numbers may be others
};

/// Only the first difference is of interest.
void compare(const std::vector<Shown>& shown, const std::vector<std::string>& printed) {
  for (std::size_t i = 0; i < std::max(shown.size(), printed.size()); ++i) {
    const bool figures = i < shown.size() && shown[i].figures;
    if (figures && shown[i].line == "...") return;
    const auto essence = [&](const std::string& line) {
      return figures ? without_figures(line) : without_place(line);
    };
    const std::string wanted = i < shown.size() ? essence(shown[i].line) : "(nothing more)";
    const std::string actual = i < printed.size() ? essence(printed[i]) : "(nothing more)";
    INFO("line " << i + 1 << " of:\n" << text_of(printed));
    CHECK(actual == wanted);
    if (actual != wanted) return;
  }
}

class Runner {
 public:
  explicit Runner(fs::path document) : document_(std::move(document)) {}

  int run_all() {
    for (const Block& block : blocks_of(read_file(document_))) {
      const std::string place = document_.filename().string() + ":" + std::to_string(block.line);
      INFO(place);
      if (block.kind() == "nesl" && block.info.size() == 2) {
        folder_.write(block.info[1], text_of(block.lines));
      } else if (block.kind() == "console") {
        console(block);
      } else if (block.kind() == "sh") {
        check_commands(block);
      } else {
        const bool readable =
            block.kind() == "text" || block.kind() == "ebnf" || block.info.empty();
        CHECK(readable);
      }
    }
    end_session();
    return compared_;
  }

 private:
  void console(const Block& block) {
    const bool figures = block.info.size() > 1 && block.info[1] == "figures";
    std::vector<Shown>* shown = nullptr;
    std::vector<Shown> output;
    std::string command;
    bool greeting = false;
    const auto end_command = [&] {
      if (command.empty()) return;
      run_command(std::exchange(command, {}), std::exchange(output, {}));
    };
    for (const std::string& line : block.lines) {
      if (line.starts_with(kCommand)) {
        end_command();
        greeting = line == "$ nesl";
        if (greeting) {
          end_session();
        } else {
          command = line.substr(kCommand.size());
          shown = &output;
        }
      } else if (line.starts_with(kPrompt)) {
        end_command();
        greeting = false;
        input_ += line.substr(kPrompt.size()) + "\n";
        shown = &answers_;
        ++compared_;
      } else if (line.starts_with(kContinued) && shown == &answers_) {
        input_ += line.substr(kContinued.size()) + "\n";
      } else if (!greeting) {
        REQUIRE(shown != nullptr);
        shown->push_back({line, figures});
      }
    }
    end_command();
  }

  std::vector<std::string> lines_printed(const std::string& command) {
    const std::string programs = fs::path(NESL_PROGRAM).parent_path().string();
    const Output result =
        run("export PATH='" + programs + "':$PATH; { " + command + "\n} 2>&1", folder_);
    return lines_of(result.out);
  }

  void run_command(const std::string& command, const std::vector<Shown>& shown) {
    INFO(command);
    compare(shown, lines_printed(command));
    ++compared_;
  }

  void end_session() {
    if (input_.empty()) return;
    // What nesl sums up when it leaves is not part of an answer.
    folder_.write("session_input", std::exchange(input_, {}) + "\"the end\";\n");
    std::vector<std::string> printed = lines_printed("nesl < session_input");
    printed.erase(std::find(printed.begin(), printed.end(), "it = \"the end\" : [char]"),
                  printed.end());
    compare(std::exchange(answers_, {}), printed);
    fs::remove(folder_.path() / "session_input");
  }

  void check_commands(const Block& block) {
    for (const std::string& line : block.lines) {
      const std::string program = line.substr(0, line.find(' '));
      const bool known = program == "git" || program == "cd" || program == "cmake" ||
                         program == "export" || fs::exists(fs::path(PROJECT_ROOT) / program);
      INFO(line);
      CHECK(known);
    }
  }

  fs::path document_;
  Folder folder_;
  std::string input_;           // of the session at the prompt
  std::vector<Shown> answers_;  // that the document shows
  int compared_ = 0;
};

}  // namespace

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

const std::string& Block::kind() const {
  static const std::string none;
  return info.empty() ? none : info[0];
}

std::vector<Block> blocks_of(const std::string& document) {
  std::vector<Block> blocks;
  bool inside = false;
  std::size_t number = 0;
  for (const std::string& line : lines_of(document)) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      Block& block = blocks.emplace_back();
      block.line = number;
      std::istringstream words(line.substr(3));
      for (std::string word; words >> word;) block.info.push_back(word);
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  CHECK_FALSE(inside);
  return blocks;
}

int check_document(const fs::path& document) {
  return Runner(document).run_all();
}

}  // namespace neslc::testing
