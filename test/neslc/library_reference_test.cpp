// docs/nesl-library.md: what the library says of itself, as a page. To write it anew:
// NESL_UPDATE=1 nesl_tool_tests "the reference of the library"
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "neslc/command/describe.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

constexpr const char* kPage = PROJECT_ROOT "/docs/nesl-library.md";

constexpr const char* kHead =
    "# The library of NESL\n"
    "\n"
    "Every function of the library, with its type, what it gives, and an example. At the prompt "
    "`describe take;` shows\n"
    "the same, and the code; `apropos sort;` finds functions by a word. Types: `a in number` is "
    "any type of numbers,\n"
    "`ordinal` these and characters, `logical` `int` and `bool`, `any` every type "
    "([types](nesl-language.md#types)).\n"
    "\"Serial only\" functions cannot be used inside an apply-to-each. What is marked \"Beyond "
    "NESL 3.1\" is not in the\n"
    "classic system.\n"
    "\n"
    "This page is made from the library, and a test executes its examples.\n";

struct Section {
  std::string title;
  std::vector<std::string> names;
};

/// The name that a form of the library begins to define; empty for other lines.
std::string function_of(const std::string& line) {
  static const std::string kFunction = "function ";
  if (!line.starts_with(kFunction)) return {};
  const std::size_t begin = kFunction.size();
  const bool quoted = line[begin] == '"';
  return quoted ? line.substr(begin + 1, line.find('"', begin + 1) - begin - 1)
                : line.substr(begin, line.find('(', begin) - begin);
}

/// Sections in the order of the signatures, each behind a comment `% 6.1 TITLE %`.
std::vector<Section> signed_sections() {
  std::vector<Section> sections;
  std::istringstream text{std::string(library_text())};
  for (std::string line; std::getline(text, line);) {
    const std::string number = "% 6.";
    if (line.starts_with(number)) {
      const std::size_t title = line.find(' ', number.size()) + 1;
      sections.push_back({line.substr(title, line.size() - title - 2), {}});
    }
    const std::string name = function_of(line);
    if (!name.empty() && name.find('.') == std::string::npos) sections.back().names.push_back(name);
  }
  return sections;
}

/// What stands behind a title in the description of a definition.
std::string described(const Definition& definition, const std::string& title) {
  std::istringstream lines(describe(definition));
  std::string line, result;
  while (std::getline(lines, line) && line != title + ":") continue;
  while (std::getline(lines, line) && line.starts_with("  ")) {
    result += (result.empty() ? "" : " ") + line.substr(2);
  }
  return result;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string& text) {
  const std::string marks = text.find('`') == std::string::npos ? "`" : "``";
  const std::string space = marks.size() > 1 ? " " : "";
  return marks + space + escaped(text, "|") + space + marks;
}

std::string row(const Definition& definition) {
  std::string interface = described(definition, "INTERFACE");
  interface.erase(interface.rfind(" ("));
  const std::string example = described(definition, "EXAMPLE");
  const std::size_t arrow = example.rfind(" => ");
  return "| " + code(interface) + "<br>" + code(described(definition, "TYPE")) + " | " +
         escaped(described(definition, "DOCUMENTATION"), "|*_<>[]`") + " | " +
         code(example.substr(0, arrow)) + " is " + code(example.substr(arrow + 4)) + " |\n";
}

std::string page() {
  Session session{std::string(library_text()) + std::string(definitions_text()),
                  open_definitions_text()};
  std::vector<Section> sections = signed_sections();
  std::set<std::string> signed_names;
  for (const Section& section : sections) {
    signed_names.insert(section.names.begin(), section.names.end());
  }
  Section streams{"Streams", {}}, windows{"Pictures: windows and boxes", {}},
      pixels{"Pictures: pixels", {}}, others{"More functions of the classic system", {}};
  std::map<std::string, const Definition*> functions;
  std::string constants;
  for (const Definition* definition : session.definitions()) {
    const std::string& name = definition->name;
    if (definition->kind == DefinitionKind::Variable) {
      constants += "| " + code(name) + " | " + code(described(*definition, "TYPE")) + " |\n";
    }
    if (definition->kind != DefinitionKind::Function) continue;
    functions[name] = definition;
    if (signed_names.contains(name)) continue;
    const TypePtr type = definition->scheme.type;
    const bool of_streams = contains_stream(type->argument()) || contains_stream(type->result());
    (of_streams                 ? streams
     : name.starts_with("w_")   ? windows
     : name.starts_with("xps_") ? pixels
                                : others)
        .names.push_back(name);
  }
  sections.insert(sections.end(), {streams, windows, pixels, others});
  std::string text = kHead;
  for (const Section& section : sections) {
    text += "\n## " + section.title +
            "\n\n| function and type | what it gives | example |\n|---|---|---|\n";
    for (const std::string& name : section.names) text += row(*functions.at(name));
  }
  return text + "\n## Constants\n\n| name | type |\n|---|---|\n" + constants;
}

TEST_CASE("the reference of the library says what the library says") {
  const std::string text = page();
  if (std::getenv("NESL_UPDATE") != nullptr) std::ofstream(kPage) << text;
  CHECK(read_file(kPage) == text);
}

}  // namespace
}  // namespace neslc::testing
