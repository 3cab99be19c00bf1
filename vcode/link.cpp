#include "vcode/link.hpp"

#include <cassert>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "vcode/keywords.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

constexpr std::string_view kMain = "MAIN";
constexpr std::uint32_t kNone = 0xFFFFFFFF;

class Linker {
 public:
  Linker(Program program, Diagnostics& diagnostics)
      : program_(std::move(program)), diagnostics_(diagnostics) {}

  std::optional<LinkedProgram> run();

 private:
  void collect_definitions();
  void check_calls();
  void report_undefined(std::string_view name, const Instruction& call, std::string_view caller);
  void append(Function& function, LinkedProgram& linked);
  void resolve_jumps(LinkedProgram& linked, std::uint32_t begin);

  Program program_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string_view, std::uint32_t> definitions_;  // name to its last function
  std::vector<std::uint32_t> linked_index_;  // of a function of the program; kNone: superseded
  std::vector<std::uint32_t> callees_;       // of a name of the program: its linked index
  std::vector<std::uint32_t> open_;          // unresolved IF and ELSE
};

std::optional<LinkedProgram> Linker::run() {
  assert(!program_.functions.empty());
  const std::size_t errors_before = diagnostics_.error_count();
  collect_definitions();
  check_calls();
  if (diagnostics_.error_count() != errors_before) return std::nullopt;

  LinkedProgram linked;
  linked.source = program_.source;
  std::uint32_t kept = 0;
  linked_index_.assign(program_.functions.size(), kNone);
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    if (definitions_.at(program_.functions[i].name) == i) linked_index_[i] = kept++;
  }
  const auto main = definitions_.find(kMain);
  const std::uint32_t entry =
      main != definitions_.end() ? main->second : definitions_.at(program_.functions.front().name);
  linked.entry = linked_index_[entry];
  std::size_t size = 0;
  for (const Function& function : program_.functions) size += function.code.size();
  linked.code.reserve(size);
  linked.functions.reserve(kept);
  // Looked up before the names move into the result: the keys are views of them.
  callees_.reserve(program_.names.size());
  for (const std::string& name : program_.names) {
    const auto found = definitions_.find(name);  // a name that no call uses need not be defined
    callees_.push_back(found == definitions_.end() ? kNone : linked_index_[found->second]);
  }
  definitions_.clear();
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    if (linked_index_[i] != kNone) append(program_.functions[i], linked);
  }
  linked.constants = std::move(program_.constants);
  return linked;
}

void Linker::collect_definitions() {
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    const Function& function = program_.functions[i];
    const auto [entry, added] = definitions_.try_emplace(function.name, i);
    if (added) continue;
    const Span first = program_.functions[entry->second].name_span;
    const bool main = function.name == kMain;
    diagnostics_.add(
        {.severity = main ? Severity::Error : Severity::Warning,
         .code = main ? ErrorCode::DuplicateMain : ErrorCode::RedefinedFunction,
         .message = main ? std::string("`MAIN` is defined twice")
                         : fmt::format("`{}` is defined again; this definition is used for every "
                                       "call",
                                       shortened(function.name)),
         .span = function.name_span,
         .function = {},
         .notes = {{"the earlier definition", first}},
         .hint = {}});
    entry->second = i;
  }
}

void Linker::check_calls() {
  std::vector<bool> reported(program_.names.size());
  for (const Function& function : program_.functions) {
    for (const Instruction& instruction : function.code) {
      if (instruction.op != Op::Call || reported[instruction.a]) continue;
      const std::string_view name = program_.names[instruction.a];
      if (definitions_.contains(name)) continue;
      reported[instruction.a] = true;
      report_undefined(name, instruction, function.name);
    }
  }
}

void Linker::report_undefined(std::string_view name, const Instruction& call,
                              std::string_view caller) {
  if (!diagnostics_.keeps(Severity::Error)) {
    diagnostics_.drop(Severity::Error);
    return;
  }
  NearestWord nearest(name);
  for (const Function& function : program_.functions) nearest.consider(function.name);
  const std::string_view guess = nearest.best();
  diagnostics_.add({.severity = Severity::Error,
                    .code = ErrorCode::UndefinedFunction,
                    .message = fmt::format("the function `{}` is not defined", shortened(name)),
                    .span = call.span,
                    .function = shortened(caller),
                    .notes = {},
                    .hint = guess.empty() ? "" : fmt::format("did you mean `{}`?", guess)});
}

void Linker::append(Function& function, LinkedProgram& linked) {
  const auto begin = static_cast<std::uint32_t>(linked.code.size());
  for (Instruction instruction : function.code) {
    if (instruction.op == Op::Call) instruction.a = callees_[instruction.a];
    linked.code.push_back(instruction);
  }
  resolve_jumps(linked, begin);
  linked.functions.push_back({std::move(function.name), function.name_span, begin,
                              static_cast<std::uint32_t>(linked.code.size())});
}

void Linker::resolve_jumps(LinkedProgram& linked, std::uint32_t begin) {
  for (auto i = begin; i < linked.code.size(); ++i) {
    const Op op = linked.code[i].op;
    if (op == Op::Else || op == Op::EndIf) {
      assert(!open_.empty());
      linked.code[open_.back()].a = i + 1;
      open_.pop_back();
    }
    if (op == Op::If || op == Op::Else) open_.push_back(i);
  }
  assert(open_.empty());
}

}  // namespace

std::optional<LinkedProgram> link(Program program, Diagnostics& diagnostics) {
  return Linker(std::move(program), diagnostics).run();
}

}  // namespace vcode
