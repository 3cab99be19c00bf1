#include "support.hpp"

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace neslc::testing {

std::shared_ptr<const vcode::Source> make_source(std::string text) {
  return std::make_shared<const vcode::Source>("test.nesl", std::move(text));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Run::Run(const std::string& text) {
  add(text);
}

void Run::add(const std::string& text) {
  for (ParsedForm& parsed : parse_program(make_source(text)).forms) {
    Checked checked;
    if (parsed.form) {
      checked = session.check(parsed.form);
    } else {
      checked.error = std::move(parsed.error);
    }
    if (!checked) {
      lines.push_back(transcript_line(*checked.error));
      errors.push_back(std::move(*checked.error));
      continue;
    }
    CheckedForm form = *checked.form;
    session.commit(std::move(*checked.form));
    std::string line;
    for (const CheckedForm::Change& change : form.changes) {
      if (!line.empty()) line += "; ";
      line += change.slot->name + " : " + scheme_text(change.slot->scheme);
    }
    lines.push_back(std::move(line));
    forms.push_back(std::move(form));
  }
}

std::string line(const std::string& text, const std::string& before) {
  Run run(before);
  const std::size_t skip = run.lines.size();
  run.add(text);
  REQUIRE(run.lines.size() == skip + 1);
  return run.lines.back();
}

std::string message(const std::string& text, const std::string& before) {
  Run run(before);
  run.add(text);
  INFO(text);
  REQUIRE(run.errors.size() == 1);
  const StaticError& error = run.errors[0];
  return vcode::render(error.diagnostic, error.source.get(), {.program = "nesl"});
}

std::string normal_type(const std::string& text) {
  const std::size_t context = text.find(" :: ");
  std::map<std::string, std::string> names;    // new names, in order of appearance
  std::map<std::string, std::string> classes;  // by old name
  if (context != std::string::npos) {
    std::istringstream words(text.substr(context + 4));
    std::string name, in, type_class;
    while (words >> name >> in >> type_class) {
      if (name[0] == '(') name.erase(0, 1);
      while (type_class.back() == ';' || type_class.back() == ')') type_class.pop_back();
      classes[name] = type_class;
    }
  }
  std::string result, restrictions;
  const std::string type = text.substr(0, context);
  for (std::size_t i = 0; i < type.size();) {
    std::string word;
    while (i < type.size() &&
           (std::isalnum(static_cast<unsigned char>(type[i])) || type[i] == '_')) {
      word += type[i++];
    }
    if (word.empty()) {
      result += type[i++];
      continue;
    }
    const auto found = classes.find(word);
    if (found == classes.end()) {
      result += word;
      continue;
    }
    const auto [name, is_new] = names.try_emplace(word, fmt::format("v{}", names.size()));
    if (is_new) restrictions += fmt::format(" {} in {}", name->second, found->second);
    result += name->second;
  }
  return result + " ::" + restrictions;
}

}  // namespace neslc::testing
