#include "neslc/command/settings_command.hpp"

#include <charconv>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "cli/backends.hpp"
#include "cvl/failure.hpp"
#include "neslc/command/commands.hpp"
#include "neslc/command/describe.hpp"
#include "neslc/command/toplevel.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

using Word = ast::CommandForm::Word;
using Words = std::span<const Word>;

const Word& argument(Words words, std::size_t index, std::string_view usage) {
  if (index < words.size()) return words[index];
  throw CommandError{"the command is not complete", fmt::format("set {};", usage)};
}

void no_more(Words words, std::size_t count, std::string_view usage) {
  if (words.size() <= count) return;
  throw CommandError{"there is more than the command takes", fmt::format("set {};", usage),
                     words[count].span};
}

bool switch_of(const Word& word) {
  if (word.text == "on") return true;
  if (word.text == "off") return false;
  throw CommandError{
      fmt::format("`{}` where on or off is needed", vcode::escaped(word.text)), {}, word.span};
}

std::size_t number_of(const Word& word) {
  std::size_t number = 0;
  const char* const end = word.text.data() + word.text.size();
  const auto result = std::from_chars(word.text.data(), end, number);
  if (word.kind != Word::Kind::Number || result.ec != std::errc() || result.ptr != end) {
    throw CommandError{
        fmt::format("`{}` where a number is needed", vcode::escaped(word.text)), {}, word.span};
  }
  return number;
}

/// The last word, which is all that the command takes.
const Word& only(Words words, std::string_view usage) {
  const Word& word = argument(words, 1, usage);
  no_more(words, 2, usage);
  return word;
}

Definition& function_of(Toplevel& top, const Word& word) {
  Definition* definition = top.session().find(word.text);
  if (definition == nullptr) {
    const std::string near = nearest_name(top.session(), word.text);
    throw CommandError{fmt::format("`{}` is not defined", vcode::escaped(word.text)),
                       near.empty() ? std::string() : fmt::format("did you mean `{}`?", near),
                       word.span};
  }
  if (definition->kind != DefinitionKind::Function || definition->library) {
    throw CommandError{
        fmt::format("`{}` is not a function of the program", definition->name), {}, word.span};
  }
  return *definition;
}

void use(Toplevel& top, const std::string& name, const Configuration& configuration) {
  try {
    top.configure(name, configuration);
  } catch (const cvl::Failure& failure) {
    throw CommandError{failure.message(), failure.hint(), {}, failure.code()};
  }
  top.configurations()[name] = configuration;
}

// ---- Settings

void set_arg_check(Toplevel& top, Words words) {
  top.evaluator().options.argument_checks = switch_of(only(words, "arg_check on|off"));
}

void set_print_length(Toplevel& top, Words words) {
  top.runner().text.print_length = number_of(only(words, "print_length N"));
}

void set_exact_floats(Toplevel& top, Words words) {
  top.runner().text.exact_floats = switch_of(only(words, "exact_floats on|off"));
}

void set_optimize(Toplevel& top, Words words) {
  const Word& level = only(words, "optimize auto|N");
  EvaluatorOptions& options = top.evaluator().options;
  options.when_it_pays = level.text == "auto";
  if (options.when_it_pays) {
    options.optimizer.level = fcode::kHighestLevel;
    return;
  }
  const std::size_t number = number_of(level);
  if (number > static_cast<std::size_t>(fcode::kHighestLevel)) {
    throw CommandError{"levels of the optimizer are 0 to 3", {}, level.span};
  }
  options.optimizer.level = static_cast<int>(number);
}

void set_verbose(Toplevel& top, Words words) {
  top.settings.verbose = switch_of(only(words, "verbose on|off"));
}

void set_editor(Toplevel& top, Words words) {
  const Word& path = only(words, "editor \"PATH\"");
  if (path.kind != Word::Kind::String) {
    throw CommandError{"the path of the editor stands in quotes", {}, path.span};
  }
  top.settings.editor = path.text;
}

void set_memory_size(Toplevel& top, Words words) {
  const Word& size = only(words, "memory_size N");
  const std::size_t number = number_of(size);
  if (number == 0 || number > std::numeric_limits<std::size_t>::max() / kWordBytes) {
    throw CommandError{"no such amount of memory", {}, size.span};
  }
  Configuration configuration = top.configurations().at(top.configuration());
  configuration.memory = number * kWordBytes;
  use(top, top.configuration(), configuration);
}

void set_config(Toplevel& top, Words words) {
  const Word& name = only(words, "config NAME");
  const auto configuration = find_configuration(top, name.text);
  if (!configuration) {
    throw CommandError{fmt::format("there is no configuration `{}`", vcode::escaped(name.text)),
                       kConfigurationHint, name.span};
  }
  use(top, name.text, *configuration);
}

void set_trace(Toplevel& top, Words words) {
  constexpr const char* kUsage = "trace NAME N";
  Definition& function = function_of(top, argument(words, 1, kUsage));
  const Word& level = argument(words, 2, kUsage);
  no_more(words, 3, kUsage);
  const std::size_t number = number_of(level);
  if (number > 4) throw CommandError{"levels of a trace are 0 to 4", {}, level.span};
  top.evaluator().observe(function).trace = static_cast<int>(number);
}

void set_profile(Toplevel& top, Words words) {
  constexpr const char* kUsage = "profile NAME on|off";
  Definition& function = function_of(top, argument(words, 1, kUsage));
  const bool on = switch_of(argument(words, 2, kUsage));
  no_more(words, 3, kUsage);
  top.evaluator().observe(function).profile = on;
}

/// Switches for the developers of the classic system.
void set_nothing(Toplevel&, Words) {}

struct Setting {
  std::string_view name;
  void (*apply)(Toplevel&, Words);
};
constexpr Setting kSettings[] = {
    {"arg_check", set_arg_check},
    {"print_length", set_print_length},
    {"exact_floats", set_exact_floats},
    {"optimize", set_optimize},
    {"verbose", set_verbose},
    {"editor", set_editor},
    {"memory_size", set_memory_size},
    {"config", set_config},
    {"trace", set_trace},
    {"profile", set_profile},
    {"redefine", set_nothing},
    {"debug", set_nothing},
    {"lnesl", set_nothing},
    {"rsh_command", set_nothing},
};

constexpr std::string_view kSettingNames[] = {"arg_check", "print_length", "optimize", "verbose",
                                              "editor",    "memory_size",  "config",   "trace",
                                              "profile",   "exact_floats"};

/// The options `NAME := VALUE` of a configuration, separated by commas.
void apply_options(Configuration& configuration, Words words) {
  constexpr const char* kUsage =
      "defconfig NAME, backend := \"cpu\", threads := 4, memory_size := 1000000;";
  for (std::size_t i = 0; i < words.size(); i += 4) {
    const bool complete = i + 3 < words.size() && words[i].text == "," && words[i + 2].text == ":=";
    if (!complete) throw CommandError{"a configuration has options `NAME := VALUE`", kUsage};
    const Word& name = words[i + 1];
    const Word& value = words[i + 3];
    if (name.text == "backend") {
      if (value.text != "cpu" && value.text != "cuda" && value.text != "auto") {
        throw CommandError{"a backend is auto, cpu or cuda", {}, value.span};
      }
      configuration.backend = value.text;
    } else if (name.text == "device") {
      configuration.device = static_cast<int>(std::min<std::size_t>(number_of(value), 9));
    } else if (name.text == "threads") {
      configuration.threads = static_cast<int>(std::min<std::size_t>(number_of(value), 65536));
    } else if (name.text == "memory_size") {
      const std::size_t most = std::numeric_limits<std::size_t>::max() / kWordBytes;
      configuration.memory = std::min(number_of(value), most) * kWordBytes;
    } else if (name.text == "max_time") {
      configuration.max_time = number_of(value);
    } else {
      constexpr std::string_view kClassic[] = {"interp_file", "temp_dir",  "rsh_command",
                                               "plot_file",   "arguments", "foreground"};
      const bool classic =
          std::find(std::begin(kClassic), std::end(kClassic), name.text) != std::end(kClassic);
      if (!classic) {
        throw CommandError{
            fmt::format("a configuration has no option `{}`", vcode::escaped(name.text)), kUsage,
            name.span};
      }
    }
  }
}

std::string names_of(Toplevel& top, bool traced) {
  std::string text;
  for (const auto& [function, observed] : top.evaluator().observed()) {
    if (traced ? observed.trace > 0 : observed.profile) {
      text += (text.empty() ? "" : " ") + function->name;
    }
  }
  return text.empty() ? "none" : text;
}

/// Does the command only lower the limit of memory?
bool keeps_limits(const Toplevel& top, Words words) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  if (words[0].text != "memory_size" || words.size() < 2) return false;
  return number_of(words[1]) <= top.machine().memory.value_or(kMost) / kWordBytes;
}

}  // namespace

void change_setting(Toplevel& top, const ast::CommandForm& command) {
  const Words words = command.words;
  for (const Setting& row : kSettings) {
    if (row.name != words[0].text) continue;
    if (!keeps_limits(top, words)) {
      refuse_in_sandbox(top, WayOut::Kind::Setting, row.name, words[0].span);
    }
    return row.apply(top, words);
  }
  vcode::NearestWord nearest(words[0].text);
  for (const Setting& row : kSettings) nearest.consider(row.name);
  throw CommandError{fmt::format("`set` knows no `{}`", vcode::escaped(words[0].text)),
                     nearest.best().empty() ? "`help;` lists what can be set"
                                            : fmt::format("did you mean `{}`?", nearest.best()),
                     words[0].span};
}

void make_configuration(Toplevel& top, const ast::CommandForm& command) {
  const Words words = command.words;
  if (words[0].kind != Word::Kind::Name) {
    throw CommandError{"a configuration has a name", {}, words[0].span};
  }
  Configuration configuration = top.configurations().at(top.configuration());
  apply_options(configuration, words.subspan(1));
  top.configurations()[words[0].text] = configuration;
}

std::optional<Configuration> find_configuration(const Toplevel& top, const std::string& name) {
  const auto found = top.configurations().find(name);
  if (found != top.configurations().end()) return found->second;
  if (name != "cpu" && name != "cuda") return {};
  Configuration configuration = top.configurations().at(top.configuration());
  configuration.backend = name;
  return configuration;
}

std::span<const std::string_view> setting_names() {
  return kSettingNames;
}

std::string traced_names(Toplevel& top) {
  return names_of(top, true);
}

std::string profiled_names(Toplevel& top) {
  return names_of(top, false);
}

}  // namespace neslc
