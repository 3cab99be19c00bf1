#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "cli/command_line.hpp"

namespace vinterp {
namespace {

std::string shown_name(const OptionRow& row) {
  return fmt::format("{}{}", row.on ? "no-" : "", row.name);
}

/// The choices of an argument, separated by blanks.
std::string choice_words(const OptionRow& row) {
  std::string words(row.choices);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

/// Between single quotes, brackets and colons escaped for zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_argument(const OptionRow& row) {
  if (row.argument == ArgumentKind::None) return "";
  const std::string action = !row.choices.empty()
                                 ? fmt::format("({})", choice_words(row))
                                 : std::string(row.placeholder == "FILE" ? "_files" : " ");
  return fmt::format(":{}:{}", row.placeholder, action);
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
  std::string words, cases;
  for (const OptionRow& row : line.options) {
    if (row.hidden) continue;
    if (!row.name.empty()) words += fmt::format(" --{}", shown_name(row));
    if (row.name.empty()) words += fmt::format(" -{}", row.letter);
    if (!row.choices.empty()) {
      cases += fmt::format(
          "    {})\n      COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n      return ;;\n",
          option_name(row), choice_words(row));
    }
  }
  std::string commands;
  for (const Explained& command : line.commands) commands += fmt::format(" {}", command.name);
  const std::string first_word = commands.empty()
                                     ? ""
                                     : fmt::format(
                                           "  elif [[ $COMP_CWORD == 1 ]]; then\n"
                                           "    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
                                           commands.substr(1));
  return fmt::format(
      "# bash completion for {0}\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  [[ $option == = ]] && option=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  [[ $word == = ]] && option=${{COMP_WORDS[COMP_CWORD-1]}} && word=\n"
      "  [[ $word == = ]] && word=\n"
      "  case $option in\n{1}  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W '{2}' -- \"$word\"))\n"
      "{3}"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _{0} {0}\n",
      line.program, cases, words.substr(1), first_word);
}

std::string zsh_completion(const CommandLine& line) {
  std::string text = fmt::format("#compdef {}\n_arguments -s \\\n", line.program);
  for (const OptionRow& row : line.options) {
    if (row.hidden) continue;
    const bool attached = row.argument == ArgumentKind::Optional;
    const std::string_view sign = row.argument == ArgumentKind::None || row.name.empty() ? ""
                                  : attached                                             ? "=-"
                                                                                         : "=";
    const std::string name = row.name.empty() ? fmt::format("-{}", row.letter)
                                              : fmt::format("--{}{}", shown_name(row), sign);
    text += fmt::format("  '{}[{}]{}' \\\n", name, zsh_text(row.text), zsh_argument(row));
  }
  if (!line.commands.empty()) {
    text += "  '1:command:((";
    for (const Explained& command : line.commands) {
      text += fmt::format("{}\\:\"{}\" ", command.name, zsh_text(command.text));
    }
    text += "))' \\\n";
  }
  return text + "  '*:program:_files'\n";
}

std::string fish_completion(const CommandLine& line) {
  std::string text = fmt::format("# fish completion for {}\n", line.program);
  for (const Explained& command : line.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n", line.program,
                        command.name, command.text);
  }
  for (const OptionRow& row : line.options) {
    if (row.hidden) continue;
    text += fmt::format("complete -c {}", line.program);
    if (row.letter != 0) text += fmt::format(" -s {}", row.letter);
    if (!row.name.empty()) text += fmt::format(" -l {}", shown_name(row));
    if (row.argument == ArgumentKind::Required) text += " -r";
    if (!row.choices.empty()) text += fmt::format(" -x -a '{}'", choice_words(row));
    text += fmt::format(" -d '{}'\n", row.text);
  }
  return text;
}

}  // namespace vinterp
