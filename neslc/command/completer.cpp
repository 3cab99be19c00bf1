#include "neslc/command/completer.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "neslc/command/colon_commands.hpp"
#include "neslc/command/commands.hpp"
#include "neslc/command/settings_command.hpp"
#include "neslc/front/lower_case.hpp"

namespace neslc {
namespace {

constexpr std::string_view kWords[] = {"and",   "bool",     "char", "closure", "datatype", "else",
                                       "float", "function", "if",   "in",      "int",      "let",
                                       "nand",  "nor",      "or",   "then",    "xor"};
constexpr std::string_view kDumps[] = {"info", "vcode", "world"};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Files that continue a path, folders with a slash.
std::vector<std::string> files(std::string_view path) {
  namespace fs = std::filesystem;
  const std::size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  const std::string_view begin = path.substr(folder.size());
  std::vector<std::string> result;
  std::error_code error;
  fs::directory_iterator entries(folder.empty() ? "." : folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (!name.starts_with(begin) || (begin.empty() && name.starts_with('.'))) continue;
    std::error_code unknown;
    result.push_back(folder + name + (entries->is_directory(unknown) ? "/" : ""));
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string first_word(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  std::size_t end = begin;
  while (end < line.size() && line[end] != ' ' && line[end] != '\t') ++end;
  return lower_case(line.substr(begin, end - begin));
}

}  // namespace

std::span<const std::string_view> reserved_words() {
  return kWords;
}

Completion complete(Session& session, std::string_view line) {
  Completion result;
  const auto quotes = std::count(line.begin(), line.end(), '"');
  if (quotes % 2 == 1) {
    result.begin = line.rfind('"') + 1;
    result.candidates = files(line.substr(result.begin));
    return result;
  }
  result.begin = line.size();
  while (result.begin > 0 && is_name_character(line[result.begin - 1])) --result.begin;
  const std::string_view before = line.substr(0, result.begin);
  const bool at_start = before.find_first_not_of(" \t") == std::string_view::npos;
  if (before.find_first_not_of(" \t") == before.size() - 1 && before.ends_with(':')) --result.begin;
  const std::string word = lower_case(line.substr(result.begin));

  std::set<std::string> candidates;
  const auto offer = [&](std::string_view candidate) {
    if (candidate.starts_with(word)) candidates.emplace(candidate);
  };
  const auto offer_all = [&](const auto& names) {
    for (const auto& name : names) offer(name);
  };
  const std::string command = at_start ? "" : first_word(before);
  if (word.starts_with(':')) {
    for (const CommandHelp& row : colon_command_help()) {
      offer(row.usage.substr(0, row.usage.find(' ')));
    }
  } else if (command == "set" && std::count(before.begin(), before.end(), ' ') == 1) {
    offer_all(setting_names());
  } else if (command == "show" && std::count(before.begin(), before.end(), ' ') == 1) {
    offer_all(show_names());
  } else if (command == "dump" && std::count(before.begin(), before.end(), ' ') == 1) {
    offer_all(kDumps);
  } else {
    for (const Definition* definition : session.definitions()) {
      if (is_name_character(definition->name[0])) offer(definition->name);
    }
    offer_all(session.datatype_names());
    offer_all(kWords);
    if (at_start) offer_all(command_names());
  }
  result.candidates.assign(candidates.begin(), candidates.end());
  return result;
}

}  // namespace neslc
