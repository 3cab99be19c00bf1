#include "neslc/command/colon_commands.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "fcode-opt/report_text.hpp"
#include "neslc/command/explain.hpp"
#include "neslc/command/toplevel.hpp"
#include "neslc/graph/graph_command.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

constexpr CommandHelp kColonHelp[] = {
    {":type EXP", "the type of an expression, which is not evaluated"},
    {":time EXP", "evaluate, and show how long compiling and running took"},
    {":cost EXP", "evaluate, and show work, depth, vector operations, longest vector"},
    {":explain EXP", "typed expression, flattened code, VCODE, kernels"},
    {":graph [FILE.svg] EXP", "evaluate, and draw the vector operations (default: graph.svg)"},
    {":dump STAGE EXP", "one stage: typed, flat, vcode, fcode or fusion"},
    {":set NAME VALUE", "as set"},
    {":device [NAME]", "where programs run; go on with cpu, cuda or a configuration"},
    {":memory", "memory in use"},
    {":trace NAME N", "as set trace"},
    {":load FILE", "as load, without quotes"},
    {":help", "this list"},
    {":quit", "leave"},
};

/// The part of the text behind the command, and the source that it comes from.
struct Argument {
  std::string_view text;
  const vcode::Source& source;

  /// A source of its own, whose messages tell the line of the whole.
  std::shared_ptr<const vcode::Source> form(const std::string& form_text) const {
    const std::string_view before(source.text().data(), text.data());
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return std::make_shared<const vcode::Source>(
        source.name(), form_text, source.first_line() + static_cast<std::uint32_t>(lines));
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (std::isspace(static_cast<unsigned char>(text.back())) != 0)) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view first_word(std::string_view& text) {
  const std::string_view whole = trimmed(text);
  std::size_t end = 0;
  while (end < whole.size() && std::isspace(static_cast<unsigned char>(whole[end])) == 0) ++end;
  text = trimmed(whole.substr(end));
  return whole.substr(0, end);
}

std::string with_end(std::string_view text) {
  std::string result(text);
  if (!result.ends_with(';') && !result.ends_with('$')) result += ';';
  return result;
}

/// The only form of the argument.
ParsedForm only_form(const Argument& argument) {
  std::vector<ParsedForm> forms = parse_program(argument.form(with_end(argument.text))).forms;
  if (forms.empty()) throw CommandError{"an expression is missing"};
  if (forms.size() > 1) throw CommandError{"this command takes one expression"};
  return std::move(forms.front());
}

/// The checked expression of the argument; nothing after an error, which is shown.
std::optional<CheckedForm> checked_expression(Toplevel& top, const Argument& argument) {
  const ParsedForm form = only_form(argument);
  if (form.error) {
    top.complain(form.error->diagnostic, form.error->source.get());
    return {};
  }
  Checked checked = top.session().check(form.form);
  if (!checked) {
    top.complain(checked.error->diagnostic, checked.error->source.get());
    return {};
  }
  if (checked.form->body == nullptr || checked.form->kind == CheckedForm::Kind::Function) {
    throw CommandError{"this command takes an expression, not a definition"};
  }
  return std::move(checked.form);
}

void show_type(Toplevel& top, const Argument& argument) {
  if (const auto form = checked_expression(top, argument)) {
    top.print(scheme_text(form->scheme) + "\n");
  }
}

/// The only form of the argument, which is evaluated; a wrong one too, for its message.
ParsedForm evaluated_form(const Argument& argument) {
  ParsedForm form = only_form(argument);
  const bool evaluated = !form.form ||
                         std::holds_alternative<ast::ExpressionForm>(form.form->node) ||
                         std::holds_alternative<ast::BindingForm>(form.form->node);
  if (!evaluated) throw CommandError{"this command takes an expression, not a definition"};
  return form;
}

/// Sets a switch for as long as it lives.
class Switched {
 public:
  explicit Switched(bool& target) : target_(target), outer_(std::exchange(target, true)) {}
  ~Switched() { target_ = outer_; }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

 private:
  bool& target_;
  bool outer_;
};

void show_time(Toplevel& top, const Argument& argument) {
  const ParsedForm form = evaluated_form(argument);
  const Switched shown(top.show.time);
  top.process(form);
}

void show_cost(Toplevel& top, const Argument& argument) {
  const ParsedForm form = evaluated_form(argument);
  const Switched shown(top.show.cost), measured(top.evaluator().options.cost);
  top.process(form);
}

/// The level that is set, or the highest one if that is not to optimize.
fcode::OptimizerOptions optimizer(Toplevel& top) {
  fcode::OptimizerOptions options = top.evaluator().options.optimizer;
  if (options.level == fcode::kLeastLevel) options.level = fcode::kHighestLevel;
  return options;
}

std::string fusion(Toplevel& top, const CheckedForm& form) {
  fcode::OptimizerReport report;
  top.evaluator().compile(form, optimizer(top), &report);
  return fcode::fusion_text(report, *form.form->source);
}

std::string stage_text(Toplevel& top, std::string_view stage, const CheckedForm& form) {
  try {
    if (stage == "typed") return typed_text(*form.body);
    if (stage == "flat") return flat_text(top.evaluator().flatten(form).module);
    if (stage == "vcode") return top.evaluator().compile(form, not_optimized());
    if (stage == "fcode") return top.evaluator().compile(form, optimizer(top));
    if (stage == "fusion") return fusion(top, form);
  } catch (const CompileError& error) {
    throw CommandError{fmt::format("function `{}` cannot be compiled here", error.name)};
  }
  throw CommandError{fmt::format("there is no stage `{}`", vcode::escaped(stage)),
                     "stages are typed, flat, vcode, fcode and fusion"};
}

void show_stages(Toplevel& top, const Argument& argument) {
  const auto form = checked_expression(top, argument);
  if (!form) return;
  constexpr CommandHelp kStages[] = {{"typed", "Typed expression"},
                                     {"flat",
                                      "Flattened (i int, x float, b bool vectors; s "
                                      "segment descriptors)"},
                                     {"vcode", "VCODE"},
                                     {"fcode", "Optimized, with kernels (FCODE)"},
                                     {"fusion", "What became kernels"}};
  for (const CommandHelp& stage : kStages) {
    top.print(fmt::format("-- {}\n{}", stage.text, stage_text(top, stage.usage, *form)));
  }
}

void show_stage(Toplevel& top, const Argument& argument) {
  std::string_view rest = argument.text;
  const std::string_view stage = first_word(rest);
  if (stage.empty()) throw CommandError{"a stage and an expression are needed", ":dump flat EXP"};
  if (const auto form = checked_expression(top, {rest, argument.source})) {
    top.print(stage_text(top, stage, *form));
  }
}

/// Takes the name of a picture off the front of the text; the default if there is none.
std::string take_picture(std::string_view& text) {
  std::string_view rest = text;
  const std::string_view word = first_word(rest);
  if (!word.ends_with(".svg")) return "graph.svg";
  text = rest;
  return std::string(word);
}

void write_graph(Toplevel& top, const Argument& argument) {
  Argument expression = argument;
  const std::string file = take_picture(expression.text);
  const auto form = checked_expression(top, expression);
  if (!form) return;
  const graph::Graph made = graph::draw(top, *form);
  if (made.result.kind != FormResult::Kind::Value) {
    top.present(made.result);
    return;
  }
  write_file(file, made.drawn.svg);
  top.print(
      fmt::format("{}: {}\n", vcode::escaped(file), graph::operations_text(made.drawn.operations)));
}

void run_classic(Toplevel& top, const std::string& text, const Argument& argument) {
  top.process(argument.form(text + ";"));
}

void device(Toplevel& top, const Argument& argument) {
  if (argument.text.empty()) return run_classic(top, "show config", argument);
  run_classic(top, "set config " + std::string(argument.text), argument);
}

void set(Toplevel& top, const Argument& argument) {
  run_classic(top, "set " + std::string(argument.text), argument);
}

void trace(Toplevel& top, const Argument& argument) {
  run_classic(top, "set trace " + std::string(argument.text), argument);
}

void load_file(Toplevel& top, const Argument& argument) {
  std::string_view file = argument.text;
  if (file.ends_with(';')) file.remove_suffix(1);
  if (file.size() > 1 && file.starts_with('"') && file.ends_with('"')) {
    file = file.substr(1, file.size() - 2);
  }
  const std::string name = file.empty() ? top.last_file() : std::string(file);
  if (name.empty()) throw CommandError{"no file has been loaded yet", ":load FILE"};
  top.load(name, false);
}

void memory(Toplevel& top, const Argument&) {
  const auto& heap = top.evaluator().backend().heap().statistics();
  top.print(fmt::format("in use {}, peak {}, held {}\n", cvl::format_bytes(heap.live_bytes),
                        cvl::format_bytes(heap.peak_live_bytes),
                        cvl::format_bytes(heap.held_bytes)));
}

void help(Toplevel& top, const Argument&) {
  top.print(help_lines(kColonHelp));
  top.print("help; lists the forms of the language and the classic commands.\n");
}

void quit(Toplevel& top, const Argument&) {
  top.finish();
}

struct ColonCommand {
  std::string_view name;
  void (*run)(Toplevel&, const Argument&);
  bool expression;  // takes one, which may go on in the next line
};
constexpr ColonCommand kColonCommands[] = {
    {":type", show_type, true},      {":time", show_time, true},  {":cost", show_cost, true},
    {":explain", show_stages, true}, {":dump", show_stage, true}, {":device", device, false},
    {":graph", write_graph, true},   {":set", set, false},        {":memory", memory, false},
    {":trace", trace, false},        {":load", load_file, false}, {":help", help, false},
    {":quit", quit, false},
};

const ColonCommand* find_command(std::string_view name) {
  const ColonCommand* found = nullptr;
  for (const ColonCommand& row : kColonCommands) {
    if (row.name == name) return &row;
    // The beginning of a name is enough where no other one begins so.
    if (name.size() > 1 && row.name.starts_with(name)) found = found == nullptr ? &row : found;
  }
  return found;
}

}  // namespace

std::span<const CommandHelp> colon_command_help() {
  return kColonHelp;
}

bool is_incomplete(std::string_view text) {
  const ColonCommand* const row = find_command(first_word(text));
  if (row == nullptr || !row->expression) return false;
  if (row->run == write_graph) take_picture(text);
  const auto parse = [](std::string whole) {
    return parse_program(std::make_shared<const vcode::Source>("", std::move(whole)),
                         {.interactive = true});
  };
  // Not if nothing but the `;` is missing.
  if (!parse(std::string(text)).incomplete) return false;
  const Parsed ended = parse(with_end(text));
  return ended.incomplete || ended.forms.empty() || ended.forms.front().error;
}

void run_colon_command(Toplevel& top, const vcode::Source& source) {
  std::string_view text = source.text();
  const std::string_view name = first_word(text);
  const ColonCommand* const row = find_command(name);
  if (row == nullptr) {
    vcode::NearestWord nearest(name);
    for (const ColonCommand& candidate : kColonCommands) nearest.consider(candidate.name);
    throw CommandError{fmt::format("there is no command `{}`", vcode::escaped(name)),
                       nearest.best().empty() ? ":help lists the commands"
                                              : fmt::format("did you mean `{}`?", nearest.best())};
  }
  refuse_in_sandbox(top, WayOut::Kind::Command, row->name, {});
  row->run(top, {text, source});
}

}  // namespace neslc
