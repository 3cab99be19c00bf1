// Mistakes of students, and what they are told. Each file of mistakes/ is about one subject:
//
//   == What the mistake is
//   the program, in a file mistake.nesl
//   --
//   what `nesl run mistake.nesl` prints
//
// Another command stands behind the title: `$ nesl < mistake.nesl`. To write what is printed anew:
// NESL_UPDATE=1 nesl_mistake_tests
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "document.hpp"
#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTitle = "== ", kOtherCommand = "$ nesl ", kPrints = "--";

struct Mistake {
  std::string title;
  std::string command = "run mistake.nesl";
  std::string program;
  std::string printed;
};

struct Subject {
  std::string heading;  // what stands before the first mistake
  std::vector<Mistake> mistakes;
};

Subject read_subject(const fs::path& path) {
  Subject subject;
  bool prints = false;
  for (const std::string& line : lines_of(read_file(path))) {
    if (line.starts_with(kTitle)) {
      subject.mistakes.emplace_back().title = line.substr(kTitle.size());
      prints = false;
    } else if (subject.mistakes.empty()) {
      subject.heading += line + "\n";
    } else if (line == kPrints) {
      prints = true;
    } else if (line.starts_with(kOtherCommand) && !prints) {
      subject.mistakes.back().command = line.substr(kOtherCommand.size());
    } else {
      Mistake& mistake = subject.mistakes.back();
      (prints ? mistake.printed : mistake.program) += line + "\n";
    }
  }
  for (Mistake& mistake : subject.mistakes) {
    if (mistake.printed.ends_with("\n\n")) mistake.printed.pop_back();  // between two mistakes
  }
  return subject;
}

void write_subject(const fs::path& path, const Subject& subject) {
  std::ofstream file(path, std::ios::binary);
  file << subject.heading;
  for (const Mistake& mistake : subject.mistakes) {
    file << kTitle << mistake.title << "\n";
    if (mistake.command != Mistake().command) file << kOtherCommand << mistake.command << "\n";
    file << mistake.program << kPrints << "\n" << mistake.printed;
    if (&mistake != &subject.mistakes.back()) file << "\n";
  }
}

std::string printed_by(const std::string& command, const std::string& program, const char* file) {
  const Folder folder;
  folder.write(file, program);
  const Output output = run("{ " + nesl(command) + "\n} 2>&1", folder);
  const bool only_warned =
      ::testing::contains(output.out, ": warning: ") && !::testing::contains(output.out, "error: ");
  CHECK((output.status == 0) == only_warned);
  CHECK(output.status < 70);
  return output.out;
}

TEST_CASE("mistakes of students have the messages that their files show") {
  const bool update = std::getenv("NESL_UPDATE") != nullptr;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(PROJECT_ROOT "/test/neslc/mistakes")) {
    Subject subject = read_subject(entry.path());
    count += subject.mistakes.size();
    for (Mistake& mistake : subject.mistakes) {
      INFO(entry.path().filename() << ": " << mistake.title);
      const std::string printed = printed_by(mistake.command, mistake.program, "mistake.nesl");
      if (update) {
        mistake.printed = printed;
      } else {
        CHECK(printed == mistake.printed);
      }
    }
    if (update) write_subject(entry.path(), subject);
  }
  CHECK(count >= 150);
}

// A program of the index of errors that is followed by a block of text prints that text.
TEST_CASE("the NESL examples of the index of errors print what it says") {
  const std::vector<Block> blocks = blocks_of(read_file(PROJECT_ROOT "/docs/errors.md"));
  int examples = 0;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].kind() != "nesl") continue;
    INFO("line " << blocks[i].line);
    REQUIRE(blocks[i + 1].kind() == "text");
    CHECK(printed_by("run p.nesl", text_of(blocks[i].lines), "p.nesl") ==
          text_of(blocks[i + 1].lines));
    ++examples;
  }
  CHECK(examples == 17);
}

TEST_CASE("nesl explain shows what the index of errors says") {
  const Output output = run(nesl("explain e0104"));
  CHECK(output.status == 0);
  CHECK(output.out.starts_with("E0104: a variable twice in one pattern\n\n```nesl\n"));
  CHECK(output.out.ends_with("Give each variable of the pattern its own name.\n"));
  CHECK(run(nesl("explain V0901")).out.starts_with("V0901: an internal error\n"));
  const Output unknown = run(nesl("explain E9999"));
  CHECK(unknown.status == 2);
  CHECK(unknown.err ==
        "nesl: error: there is no error code `E9999` [V0401]\n"
        "help: every message ends with its code in brackets, as in [E0102]\n");
}

}  // namespace
}  // namespace neslc::testing
