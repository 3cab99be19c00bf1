// The grammar in the reference of the language is that of the parser: what it derives is accepted,
// and what is accepted in programs is derived.
#include "grammar.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "document.hpp"
#include "neslc/front/lexer.hpp"
#include "neslc/front/operators.hpp"
#include "neslc/front/parser.hpp"
#include "neslc/front/session.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

const std::string& reference() {
  static const std::string text = read_file(std::string(PROJECT_ROOT) + "/docs/nesl-language.md");
  return text;
}

std::string block(const char* kind) {
  std::string text;
  for (const Block& found : blocks_of(reference())) {
    if (found.kind() != kind) continue;
    for (const std::string& line : found.lines) text += line + "\n";
    return text;
  }
  FAIL("no block " << kind);
  return text;
}

const Grammar& grammar() {
  static const Grammar result(block("ebnf"));
  return result;
}

std::string token_class(const Token& token) {
  switch (token.kind) {
    case Token::Kind::Name:
      return token.text == "t" || token.text == "f" ? "" : "name";
    case Token::Kind::Integer:
      return "integer";
    case Token::Kind::Float:
      return "float";
    case Token::Kind::Character:
      return "character";
    case Token::Kind::String:
      return "string";
    default:
      return "";
  }
}

std::vector<Grammar::Word> words_of(std::string_view form) {
  std::vector<Grammar::Word> words;
  for (const Token& token : tokenize(*make_source(std::string(form)))) {
    if (token.kind == Token::Kind::End) break;
    const std::string kind = token_class(token);
    const bool constant = !kind.empty() && kind != "name";
    words.push_back({constant ? "" : token.text, kind});
  }
  return words;
}

TEST_CASE("the reserved words of the reference are those of the lexer") {
  std::set<std::string> reserved;
  for (const std::string_view word : keywords()) reserved.emplace(word);
  std::set<std::string> listed;
  std::istringstream words(block("text"));
  for (std::string word; words >> word;) listed.insert(word);
  listed.erase("pair");  // refused as a name, without a use
  reserved.erase("pair");
  CHECK(listed == reserved);
  std::set<std::string> used;
  for (const std::string& word : grammar().quoted()) {
    const bool letters =
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    if (letters && word != "t" && word != "f") used.insert(word);
  }
  CHECK(used == reserved);
}

TEST_CASE("operators and their levels in the reference are those of the parser") {
  std::set<std::string> infix;
  std::map<int, std::pair<std::string, std::string>> rows;  // operators and grouping
  for (const InfixOperator& row : infix_operators()) {
    infix.emplace(row.spelling);
    auto& [names, side] = rows[row.level];
    std::string shown(row.spelling);
    if (shown == "||") shown = "\\|\\|";
    names += (names.empty() ? "`" : ", `") + shown + "`";
    side = row.associativity == InfixOperator::Left ? "left" : "right";
  }
  CHECK(grammar().words_of("infix-operator") == infix);
  for (const auto& [level, row] : rows) {
    const std::string line =
        "| " + std::to_string(level) + " | " + row.first + " | " + row.second + " |\n";
    INFO(line);
    CHECK(reference().find(line) != std::string::npos);
  }
  std::set<std::string> prefix;
  for (const PrefixOperator& row : prefix_operators()) prefix.emplace(row.spelling);
  CHECK(grammar().words_of("prefix-operator") == prefix);
}

/// A sentence as text. Empty where two of its parts, each longer than derived, have taken what
/// another one needs: `[] name (` is a type, `closure(if c then f else g, x)` lacks its comma, and
/// in `p &= (x, y := z)` the parentheses do not keep the option from being one.
std::string text_of(const std::vector<std::string>& sentence, std::mt19937& random) {
  static const std::map<std::string, std::vector<std::string>> samples = {
      {"<name>", {"x", "y", "speed", "a_1"}},
      {"<integer>", {"0", "17"}},
      {"<float>", {"1.5", ".25", "1e3"}},
      {"<character>", {"`a", "`%"}},
      {"<string>", {"\"s\"", "\"\""}}};
  std::string text;
  bool closure = false;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::string& word = sentence[i];
    closure = closure || word == "closure";
    const bool greedy = closure && (word == "if" || word == "let");
    const bool type = i >= 3 && word == "(" && sentence[i - 1] == "<name>" &&
                      sentence[i - 2] == "]" && sentence[i - 3] == "[";
    const bool options =
        i >= 1 && word == "(" && (sentence[i - 1] == "&=" || sentence[i - 1] == "|=");
    if (greedy || type || options) return {};
    const auto sample = samples.find(word);
    text += sample == samples.end() ? word : sample->second[random() % sample->second.size()];
    text += " ";
  }
  return text;
}

TEST_CASE("the parser accepts whatever the grammar derives") {
  std::mt19937 random(1);
  for (int accepted = 0; accepted < 3000;) {
    const std::string text = text_of(grammar().sentence("form", random), random);
    if (text.empty()) continue;
    INFO(text);
    const Parsed parsed = parse_program(make_source(text + ";"));
    REQUIRE(parsed.forms.size() == 1);
    const bool fits = parsed.forms[0].form != nullptr;
    if (!fits) UNSCOPED_INFO(parsed.forms[0].error->diagnostic.message);
    REQUIRE(fits);
    ++accepted;
  }
}

TEST_CASE("the grammar derives the forms of all programs") {
  int derived = 0;
  for (const char* folder : {"/test/nesl-conformance", "/nesl-examples/nesl",
                             "/nesl-examples/course", "/test/neslc/programs"}) {
    for (const auto& entry : fs::directory_iterator(std::string(PROJECT_ROOT) + folder)) {
      if (entry.path().extension() != ".nesl") continue;
      Run checked("");
      const std::string program = read_file(entry.path());
      for (const ParsedForm& parsed : parse_program(make_source(program)).forms) {
        if (!parsed.form || std::holds_alternative<ast::CommandForm>(parsed.form->node)) continue;
        const std::string form(parsed.form->text());
        const std::size_t errors = checked.errors.size();
        checked.add(form + ";");
        if (checked.errors.size() > errors) continue;
        INFO(entry.path().filename().string() << ": " << form);
        CHECK(grammar().derives("form", words_of(form)));
        ++derived;
      }
    }
  }
  CHECK(derived > 1000);
}

}  // namespace
}  // namespace neslc::testing
