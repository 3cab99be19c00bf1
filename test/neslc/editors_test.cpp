// The modes for editors know the words of the language, and their files are well formed.
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <catch2/catch.hpp>

#include "neslc/command/commands.hpp"
#include "neslc/front/lexer.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;
using boost::property_tree::ptree;

fs::path editors() {
  return std::string(PROJECT_ROOT) + "/editors";
}

ptree json(const std::string& name) {
  ptree tree;
  read_json((editors() / "vscode" / name).string(), tree);
  return tree;
}

std::set<std::string> words_in(const std::string& text) {
  const std::regex word("[a-z]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), {}};
}

template <typename Words>
std::set<std::string> as_set(const Words& words) {
  std::set<std::string> result;
  for (const std::string_view word : words) result.emplace(word);
  return result;
}

/// The quoted words of `(defconst NAME '(...`.
std::set<std::string> emacs_words(const std::string& name) {
  const std::string mode = read_file(editors() / "emacs/nesl-mode.el");
  const std::size_t begin = mode.find("(defconst " + name + "\n");
  REQUIRE(begin != std::string::npos);
  const std::size_t list = mode.find("'(", begin);
  return words_in(mode.substr(list, mode.find(')', list) - list));
}

/// The words of a rule of the TextMate grammar, which are alternatives between parentheses.
std::set<std::string> textmate_words(const std::string& rule) {
  const std::string match =
      json("syntaxes/nesl.tmLanguage.json").get<std::string>("repository." + rule + ".match");
  const std::size_t begin = match.find("\\b(");
  REQUIRE(begin != std::string::npos);
  return words_in(match.substr(begin + 3, match.find(')', begin) - begin - 3));
}

TEST_CASE("editors know the reserved words and the commands") {
  CHECK(emacs_words("nesl-keywords") == as_set(keywords()));
  CHECK(textmate_words("keyword") == as_set(keywords()));
  CHECK(emacs_words("nesl-commands") == as_set(command_names()));
  CHECK(textmate_words("command") == as_set(command_names()));
  CHECK(emacs_words("nesl-types") == textmate_words("type"));
}

TEST_CASE("the extension for VS Code names files that are there") {
  const ptree package = json("package.json");
  const fs::path folder = editors() / "vscode";
  CHECK(fs::exists(folder / package.get<std::string>("main")));
  for (const auto& [unused, language] : package.get_child("contributes.languages")) {
    CHECK_NOTHROW(json(language.get<std::string>("configuration")));
  }
  for (const auto& [unused, grammar] : package.get_child("contributes.grammars")) {
    const ptree rules = json(grammar.get<std::string>("path"));
    CHECK(rules.get<std::string>("scopeName") == grammar.get<std::string>("scopeName"));
    for (const auto& [unused_too, rule] : rules.get_child("patterns")) {
      CHECK(rules.get_child("repository").count(rule.get<std::string>("include").substr(1)) == 1);
    }
  }
}

}  // namespace
}  // namespace neslc::testing
