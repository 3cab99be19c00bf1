#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "cli/command_line.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/keywords.hpp"

namespace vinterp {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kNegation = "no-";
constexpr const char* kWord = "input-file";

/// Where a key of the parser leads.
struct Target {
  const OptionRow* row;
  bool negated;
};
using Table = std::span<const OptionRow>;
using Targets = std::unordered_map<std::string, Target>;

const po::value_semantic* semantic_of(ArgumentKind argument) {
  if (argument != ArgumentKind::None) return po::value<std::string>();
  return new po::untyped_value(true);  // taken over by the description
}

/// The parser would let an option with optional argument take the next word, so that such an option
/// without argument is given to it under another name, which takes none.
std::string bare_name(const OptionRow& row) {
  return fmt::format("{}!", row.name);
}

std::vector<std::string> with_bare_names(Table table, std::span<const std::string> arguments) {
  std::vector<std::string> result(arguments.begin(), arguments.end());
  for (std::string& argument : result) {
    if (argument == "--") break;
    for (const OptionRow& row : table) {
      if (row.argument != ArgumentKind::Optional) continue;
      const bool is_letter = row.letter != 0 && argument == fmt::format("-{}", row.letter);
      if (is_letter || argument == option_name(row)) {
        argument = fmt::format("--{}", bare_name(row));
        break;
      }
    }
  }
  return result;
}

/// Could an argument be this option? Where this says no, the parser would say it too.
bool is_mentioned(const OptionRow& row, std::span<const std::string> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [&row](std::string_view argument) {
    if (!argument.starts_with('-')) return false;
    if (!argument.starts_with("--"))
      return row.letter != 0 && argument.find(row.letter) != argument.npos;
    argument.remove_prefix(2);
    if (row.undo && argument.starts_with(kNegation)) argument.remove_prefix(kNegation.size());
    return !row.name.empty() && argument.starts_with(row.name);
  });
}

/// Describes the options that the arguments may mention: the parser takes 2 us for each
/// description.
void describe(Table table, std::span<const std::string> arguments,
              po::options_description& description, Targets& targets) {
  auto add = description.add_options();
  for (const OptionRow& row : table) {
    if (!is_mentioned(row, arguments)) continue;
    std::string names(row.name);
    if (row.letter != 0) names += fmt::format(",{}", row.letter);
    add(names.c_str(), semantic_of(row.argument));
    targets[row.name.empty() ? fmt::format("-{}", row.letter) : std::string(row.name)] = {&row,
                                                                                          false};
    if (row.argument == ArgumentKind::Optional) {
      add(bare_name(row).c_str(), semantic_of(ArgumentKind::None));
      targets[bare_name(row)] = {&row, false};
    }
    if (row.undo) {
      const std::string negated = fmt::format("{}{}", kNegation, row.name);
      add(negated.c_str(), semantic_of(ArgumentKind::None));
      targets[negated] = {&row, true};
    }
  }
  add(kWord, po::value<std::vector<std::string>>());
}

[[noreturn]] void unknown_option(Table table, const std::string& written) {
  const std::string name = written.substr(0, written.find('='));
  const std::string message = fmt::format("unknown option `{}`", vcode::escaped(name));
  vcode::NearestWord nearest(name);
  std::vector<std::string> names;
  for (const OptionRow& row : table) {
    if (row.name.empty() || row.hidden) continue;
    names.push_back(fmt::format("--{}", row.name));
    if (row.undo) names.push_back(fmt::format("--{}{}", kNegation, row.name));
  }
  for (const std::string& candidate : names) nearest.consider(candidate);
  if (nearest.best().empty()) throw UsageError(message);
  throw UsageError(message, fmt::format("did you mean `{}`?", nearest.best()));
}

[[noreturn]] void bad_syntax(const po::invalid_command_line_syntax& error) {
  std::string name = vcode::escaped(error.get_option_name());
  constexpr std::size_t kShort = 3;  // a letter, which the parser shows with two dashes
  if (name.size() == kShort && name.starts_with("--")) name.erase(0, 1);
  switch (error.kind()) {
    case po::invalid_syntax::missing_parameter:
    case po::invalid_syntax::empty_adjacent_parameter:
      throw UsageError(fmt::format("option `{}` needs an argument", name));
    case po::invalid_syntax::extra_parameter:
      throw UsageError(fmt::format("option `{}` takes no argument", name));
    default:
      throw UsageError(error.what());
  }
}

po::parsed_options parse(Table table, std::span<const std::string> arguments,
                         const po::options_description& description) {
  namespace style = po::command_line_style;
  constexpr int kStyle = style::allow_short | style::short_allow_adjacent |
                         style::short_allow_next | style::allow_dash_for_short |
                         style::allow_sticky | style::allow_long | style::long_allow_adjacent |
                         style::long_allow_next;
  po::positional_options_description positional;
  positional.add(kWord, -1);
  try {
    return po::command_line_parser(with_bare_names(table, arguments))
        .options(description)
        .positional(positional)
        .style(kStyle)
        .run();
  } catch (const po::unknown_option& error) {
    unknown_option(table, error.get_option_name());
  } catch (const po::invalid_command_line_syntax& error) {
    bad_syntax(error);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

std::vector<std::string> parse_arguments(Table table, std::span<const std::string> arguments,
                                         Options& options) {
  const auto is_word = [](const std::string& argument) { return !argument.starts_with('-'); };
  std::vector<std::string> words;
  if (std::all_of(arguments.begin(), arguments.end(), is_word)) {
    words.assign(arguments.begin(), arguments.end());
    return words;
  }
  po::options_description description;
  Targets targets;
  describe(table, arguments, description, targets);
  for (const auto& option : parse(table, arguments, description).options) {
    if (option.string_key == kWord) {
      if (!option.value.empty()) words.push_back(option.value[0]);
      continue;
    }
    const Target& target = targets.at(option.string_key);
    if (target.negated) {
      target.row->undo(options);
    } else if (target.row->argument == ArgumentKind::None) {
      target.row->apply(options, target.row->name.empty() ? std::string(1, target.row->letter)
                                                          : std::string(target.row->name));
    } else {
      target.row->apply(options, option.value.empty() ? std::string() : option.value[0]);
    }
  }
  return words;
}

}  // namespace vinterp
