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
  void collect_kernels();
  void check_names();
  void report_undefined(const Instruction& user, std::string_view function);
  void append(Function& function, LinkedProgram& linked);
  void append_spec(Kernel& kernel, LinkedProgram& linked);
  void append_code(const std::vector<Instruction>& code, LinkedProgram& linked);
  void resolve_jumps(LinkedProgram& linked, std::uint32_t begin);

  Program program_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string_view, std::uint32_t> definitions_;  // name to its last function
  std::vector<std::uint32_t> linked_index_;  // of a function of the program; kNone: superseded
  std::unordered_map<std::string_view, std::uint32_t> kernels_;  // name to its kernel
  std::vector<std::uint32_t> callees_;  // of a name of the program: its linked index
  std::vector<std::uint32_t> runs_;     // of a name of the program: index of the kernel
  std::vector<std::uint32_t> open_;     // unresolved IF and ELSE
};

std::optional<LinkedProgram> Linker::run() {
  assert(!program_.functions.empty());
  const std::size_t errors_before = diagnostics_.error_count();
  collect_definitions();
  collect_kernels();
  check_names();
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
  for (const Kernel& kernel : program_.kernels) size += kernel.spec.size() + 1;
  linked.code.reserve(size);
  linked.functions.reserve(kept + program_.kernels.size());
  linked.kernels.reserve(program_.kernels.size());
  // Looked up before the names move into the result: the keys are views of them.
  callees_.reserve(program_.names.size());
  runs_.reserve(program_.names.size());
  for (const std::string& name : program_.names) {
    const auto found = definitions_.find(name);  // a name that no call uses need not be defined
    callees_.push_back(found == definitions_.end() ? kNone : linked_index_[found->second]);
    const auto kernel = kernels_.find(name);
    runs_.push_back(kernel == kernels_.end() ? kNone : kernel->second);
  }
  definitions_.clear();
  kernels_.clear();
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    if (linked_index_[i] != kNone) append(program_.functions[i], linked);
  }
  for (Kernel& kernel : program_.kernels) append_spec(kernel, linked);
  linked.constants = std::move(program_.constants);
  linked.fcode = program_.fcode;
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

void Linker::collect_kernels() {
  for (std::uint32_t i = 0; i < program_.kernels.size(); ++i) {
    kernels_.try_emplace(program_.kernels[i].name, i);
  }
}

void Linker::check_names() {
  std::vector<bool> reported_calls(program_.names.size()), reported_runs(program_.names.size());
  for (const Function& function : program_.functions) {
    for (const Instruction& instruction : function.code) {
      if (instruction.op != Op::Call && instruction.op != Op::Run) continue;
      const bool call = instruction.op == Op::Call;
      auto reported = call ? reported_calls[instruction.a] : reported_runs[instruction.a];
      const std::string_view name = program_.names[instruction.a];
      if (reported || (call ? definitions_ : kernels_).contains(name)) continue;
      reported = true;
      report_undefined(instruction, function.name);
    }
  }
}

void Linker::report_undefined(const Instruction& user, std::string_view function) {
  if (!diagnostics_.keeps(Severity::Error)) {
    diagnostics_.drop(Severity::Error);
    return;
  }
  const bool call = user.op == Op::Call;
  const std::string_view name = program_.names[user.a];
  NearestWord nearest(name);
  if (call) {
    for (const Function& candidate : program_.functions) nearest.consider(candidate.name);
  } else {
    for (const Kernel& candidate : program_.kernels) nearest.consider(candidate.name);
  }
  const std::string_view guess = nearest.best();
  diagnostics_.add({.severity = Severity::Error,
                    .code = call ? ErrorCode::UndefinedFunction : ErrorCode::UndefinedKernel,
                    .message = fmt::format("the {} `{}` is not defined",
                                           call ? "function" : "kernel", shortened(name)),
                    .span = user.span,
                    .function = shortened(function),
                    .notes = {},
                    .hint = guess.empty() ? "" : fmt::format("did you mean `{}`?", guess)});
}

void Linker::append(Function& function, LinkedProgram& linked) {
  const auto begin = static_cast<std::uint32_t>(linked.code.size());
  append_code(function.code, linked);
  linked.functions.push_back({std::move(function.name), function.name_span, begin,
                              static_cast<std::uint32_t>(linked.code.size()), false});
}

// A SPEC becomes a function that no program can call: its name holds a blank.
void Linker::append_spec(Kernel& kernel, LinkedProgram& linked) {
  LinkedKernel result;
  if (kernel.has_spec) {
    const auto begin = static_cast<std::uint32_t>(linked.code.size());
    append_code(kernel.spec, linked);
    kernel.spec = std::vector<Instruction>();  // gives its memory back, which = {} does not
    Instruction& end = linked.code.emplace_back();
    end.op = Op::Return;
    end.span = kernel.name_span;
    result.spec = static_cast<std::uint32_t>(linked.functions.size());
    linked.functions.push_back({"KERNEL " + kernel.name, kernel.name_span, begin,
                                static_cast<std::uint32_t>(linked.code.size()), true});
  }
  result.definition = std::move(kernel);
  linked.kernels.push_back(std::move(result));
}

void Linker::append_code(const std::vector<Instruction>& code, LinkedProgram& linked) {
  const auto begin = static_cast<std::uint32_t>(linked.code.size());
  for (Instruction instruction : code) {
    if (instruction.op == Op::Call) instruction.a = callees_[instruction.a];
    if (instruction.op == Op::Run) instruction.a = runs_[instruction.a];
    linked.code.push_back(instruction);
  }
  resolve_jumps(linked, begin);
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
