#include "cuda/ptx/kernel.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

/// `12`, `-3`, `0x1F`, `0f3F800000` and `0d3FF0000000000000` (bits of a float and of a double).
std::optional<std::uint64_t> literal(std::string_view text) {
  const bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && std::string_view("xXfFdD").find(text[1]) != text.npos) {
    text.remove_prefix(2);
    base = 16;
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return negative ? ~value + 1 : value;
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// `ld.global.v4.u32`: a load of four registers with 16 bytes.
void note_access(const std::string& name, Instruction& instruction) {
  const bool is_load = name.rfind("ld.", 0) == 0, is_store = name.rfind("st.", 0) == 0;
  if (!is_load && !is_store) return;
  for (const char* elsewhere : {".shared", ".local", ".param", ".const"}) {
    if (name.find(elsewhere) != std::string::npos) return;
  }
  const std::size_t vector = name.find(".v");
  const bool is_vector = vector != std::string::npos && name.compare(vector, 9, ".volatile") != 0;
  const auto bits = literal(std::string_view(name).substr(name.rfind('.') + 2));
  instruction.access = is_load ? Instruction::AccessKind::Load : Instruction::AccessKind::Store;
  instruction.values = static_cast<std::uint8_t>(is_vector ? name[vector + 2] - '0' : 1);
  instruction.bytes = static_cast<std::uint8_t>(*bits / 8 * instruction.values);
}

/// Decodes an entry with all that it calls.
class Decoder {
 public:
  /// `variables`: where those of the module are.
  Decoder(const ModuleText& module, const std::map<std::string, std::uint64_t>& variables)
      : module_(module), variables_(variables) {}

  Kernel decode(const Routine& entry) {
    kernel_.name = entry.name;
    next_register_ = kSpecialRegisters;
    for (const Variable& shared : module_.variables) {
      if (shared.space == "shared") place_shared(shared, module_symbols_);
    }
    queue_.push_back(&entry);
    known_.insert(entry.name);
    while (!queue_.empty()) {
      const Routine& routine = *queue_.front();
      queue_.pop_front();
      decode_routine(routine);
    }
    for (const auto& [at, function] : calls_) kernel_.code[at].target = begins_.at(function);
    // Constants come after all registers, whose number is known only now.
    kernel_.first_constant = next_register_;
    kernel_.registers = next_register_ + static_cast<std::uint32_t>(kernel_.constants.size());
    for (Instruction& instruction : kernel_.code) {
      for (std::uint32_t& r : instruction.r) {
        if (r >= kConstants) r = r - kConstants + kernel_.first_constant;
      }
    }
    return std::move(kernel_);
  }

 private:
  static constexpr std::uint32_t kConstants = 1u << 30;  // a constant until its place is known
  using Symbols = std::unordered_map<std::string, std::uint64_t>;

  /// Names that are known between two braces.
  struct Scope {
    std::unordered_map<std::string, std::uint32_t> registers;
    Symbols symbols;
  };
  /// Where parameters and results of a function lie, in local memory.
  struct Signature {
    std::vector<std::pair<std::uint64_t, std::size_t>> parameters, results;
  };

  [[noreturn]] void fail(const Statement& statement, const std::string& what) const {
    throw Fault(fmt::format("PTX line {}, `{}`, in {}: {}", statement.line, statement.text,
                            routine_->name, what));
  }

  static std::uint64_t place(std::size_t& used, const Variable& variable) {
    const std::size_t offset = rounded_up(used, variable.alignment);
    used = offset + variable.bytes;
    return offset;
  }
  void place_shared(const Variable& variable, Symbols& symbols) {
    symbols[variable.name] = kSharedBase + place(kernel_.shared_bytes, variable);
  }
  std::uint64_t place_local(const Variable& variable, Symbols& symbols) {
    return symbols[variable.name] = kLocalBase + place(kernel_.local_bytes, variable);
  }

  const Routine& function(const Statement& statement, const std::string& name) const {
    for (const Routine& routine : module_.routines) {
      if (routine.name == name && !routine.body.empty()) return routine;
    }
    fail(statement, fmt::format("there is no function `{}`", name));
  }
  /// Its parameters get their places when the first call is seen.
  const Signature& signature_of(const Routine& routine) {
    const auto [found, is_new] = signatures_.try_emplace(routine.name);
    if (is_new) {
      Symbols& symbols = formal_symbols_[routine.name];
      for (const Variable& each : routine.parameters) {
        found->second.parameters.emplace_back(place_local(each, symbols), each.bytes);
      }
      for (const Variable& each : routine.results) {
        found->second.results.emplace_back(place_local(each, symbols), each.bytes);
      }
    }
    return found->second;
  }

  void decode_routine(const Routine& routine) {
    routine_ = &routine;
    begins_[routine.name] = static_cast<std::uint32_t>(kernel_.code.size());
    scopes_.assign(1, {});
    scopes_[0].registers = {
        {"%tid.x", kTid},     {"%ctaid.x", kCtaid},          {"%ctaid.y", kCtaidY},
        {"%ntid.x", kNtid},   {"%nctaid.x", kNctaid},        {"%nctaid.y", kNctaidY},
        {"%laneid", kLaneid}, {"%lanemask_le", kLanemaskLe}, {"%lanemask_ge", kLanemaskGe}};
    scopes_[0].symbols = module_symbols_;
    if (routine.is_entry) {
      for (const Variable& parameter : routine.parameters) {
        scopes_[0].symbols[parameter.name] =
            kParameterBase + place(kernel_.parameter_bytes, parameter);
      }
    } else {
      signature_of(routine);
      scopes_[0].symbols.merge(Symbols(formal_symbols_[routine.name]));
    }
    labels_.clear();
    branches_.clear();
    for (const Statement& statement : parse_body(routine)) decode_statement(statement);
    for (const auto& [at, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) throw Fault(fmt::format("there is no label {}", label));
      kernel_.code[at].target = found->second;
    }
    // Where the text just ends.
    emit({Statement::Kind::Instruction, "ret", 0}, "ret", {});
  }

  void decode_statement(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::Open:
        scopes_.emplace_back();
        break;
      case Statement::Kind::Close:
        scopes_.pop_back();
        break;
      case Statement::Kind::Label:
        labels_[statement.text] = static_cast<std::uint32_t>(kernel_.code.size());
        break;
      case Statement::Kind::Registers:
        declare_registers(statement);
        break;
      case Statement::Kind::Variable: {
        const Variable variable = parse_variable(statement.text);
        if (variable.space == "shared") {
          place_shared(variable, scopes_.back().symbols);
        } else {
          place_local(variable, scopes_.back().symbols);
        }
        break;
      }
      case Statement::Kind::Pragma:
        break;
      case Statement::Kind::Instruction:
        decode_instruction(statement);
        break;
    }
  }

  /// `.reg .b32 %r<7>` or `.reg .b32 %a, %b`.
  void declare_registers(const Statement& statement) {
    const std::size_t names = statement.text.find_first_of(" \t", statement.text.find(".", 1));
    for (const std::string& each : split_operands(statement.text.substr(names))) {
      const std::size_t bracket = each.find('<');
      auto& registers = scopes_.back().registers;
      if (bracket == std::string::npos) {
        registers[each] = next_register_++;
        continue;
      }
      const std::string stem = each.substr(0, bracket);
      const auto count = literal(each.substr(bracket + 1, each.size() - bracket - 2));
      if (!count) fail(statement, "this is no number of registers");
      for (std::uint64_t k = 0; k < *count; ++k) {
        registers[stem + std::to_string(k)] = next_register_++;
      }
    }
  }

  std::optional<std::uint32_t> find_register(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->registers.find(name);
      if (found != scope->registers.end()) return found->second;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> find_symbol(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->symbols.find(name);
      if (found != scope->symbols.end()) return found->second;
    }
    const auto found = variables_.find(name);
    if (found != variables_.end()) return found->second;
    return std::nullopt;
  }
  std::uint32_t constant(std::uint64_t value) {
    const auto [found, is_new] =
        constant_places_.try_emplace(value, static_cast<std::uint32_t>(kernel_.constants.size()));
    if (is_new) kernel_.constants.push_back(value);
    return kConstants + found->second;
  }

  std::uint32_t operand(const Statement& statement, const std::string& text) {
    if (const auto found = find_register(text)) return *found;
    if (const auto symbol = find_symbol(text)) return constant(*symbol);
    if (text == "_") return next_register_++;  // a result that nobody wants
    if (const auto value = literal(text)) return constant(*value);
    fail(statement, fmt::format("the operand `{}` is not known", text));
  }

  /// `[register + offset]`.
  std::uint32_t address(const Statement& statement, std::string text, std::int64_t& offset) {
    text = trimmed(text.substr(1, text.size() - 2));
    const std::size_t plus = text.find('+');
    if (plus != std::string::npos) {
      const auto value = literal(trimmed(text.substr(plus + 1)));
      if (!value) fail(statement, "this is no offset");
      offset = static_cast<std::int64_t>(*value);
      text = trimmed(text.substr(0, plus));
    }
    return operand(statement, text);
  }

  struct Words {
    std::string guard;  // `@%p1`, or nothing
    std::string name;
    std::vector<std::string> operands;
  };
  static Words words_of(const std::string& text) {
    Words words;
    std::size_t at = 0;
    const auto word = [&] {
      const std::size_t begin = text.find_first_not_of(" \t\n", at);
      at = std::min(text.find_first_of(" \t\n", begin), text.size());
      return text.substr(begin, at - begin);
    };
    words.name = word();
    if (words.name[0] == '@') words.guard = std::exchange(words.name, word());
    words.operands = split_operands(text.substr(at));
    return words;
  }

  void decode_instruction(const Statement& statement) {
    Words words = words_of(statement.text);
    if (words.name == "call" || words.name == "call.uni") return decode_call(statement, words);
    Instruction instruction;
    if (words.name.rfind("bra", 0) == 0 && words.name.rfind("brev", 0) != 0) {
      branches_.emplace_back(kernel_.code.size(), words.operands.at(0));
      words.operands.clear();
    }
    std::size_t count = 0;
    const auto add = [&](std::uint32_t at) {
      if (count == instruction.r.size()) fail(statement, "there are too many operands");
      instruction.r[count++] = at;
    };
    for (std::size_t k = 0; k < words.operands.size(); ++k) {
      const std::string& text = words.operands[k];
      if (text[0] == '{') {
        const auto pieces = split_operands(text.substr(1, text.size() - 2));
        for (const std::string& piece : pieces) add(operand(statement, piece));
        if (words.name.rfind("mov.", 0) == 0) {
          words.name += fmt::format(".{}{}", k == 0 ? "unpack" : "pack", pieces.size());
        }
      } else if (text[0] == '[') {
        add(address(statement, text, instruction.offset));
      } else if (const std::size_t bar = text.find('|'); bar != std::string::npos) {
        add(operand(statement, text.substr(0, bar)));
        add(operand(statement, text.substr(bar + 1)));
        words.name += "|p";
      } else {
        add(operand(statement, text));
      }
    }
    emit(statement, words.name, instruction, words.guard);
  }

  void emit(const Statement& statement, const std::string& name, Instruction instruction,
            const std::string& guard = {}) {
    const Operation* operation = OperationTable::instance().find(name);
    if (operation == nullptr) {
      fail(statement, fmt::format("the instruction `{}` is not known", name));
    }
    instruction.run = operation->run;
    instruction.run_together = operation->run_together;
    instruction.line = statement.line;
    note_access(name, instruction);
    if (!guard.empty()) {
      instruction.guarded = true;
      instruction.guard_value = guard[1] != '!';
      const auto found = find_register(guard.substr(instruction.guard_value ? 1 : 2));
      if (!found) fail(statement, "the predicate is not known");
      instruction.guard = *found;
    }
    kernel_.code.push_back(instruction);
    kernel_.text.push_back(statement.text);
  }

  /// Copies between variables of local memory.
  void emit_copy(const Statement& statement, std::uint64_t to, std::uint64_t from,
                 std::size_t bytes) {
    Instruction copy;
    copy.r = {constant(to), constant(from), constant(bytes)};
    emit(statement, kCopyLocal, copy);
  }

  /// `call (result), function, (argument)`: arguments and results are copied.
  void decode_call(const Statement& statement, const Words& words) {
    if (!words.guard.empty()) fail(statement, "calls under a condition are not known");
    const auto list = [](const std::string& text) {
      return split_operands(text.substr(1, text.size() - 2));
    };
    std::vector<std::string> results, arguments;
    std::string name;
    for (const std::string& each : words.operands) {
      if (each[0] != '(') {
        name = each;
      } else {
        (name.empty() ? results : arguments) = list(each);
      }
    }
    const Routine& callee = function(statement, name);
    const Signature signature = signature_of(callee);
    if (results.size() != signature.results.size() ||
        arguments.size() != signature.parameters.size()) {
      fail(statement, "the numbers of parameters differ from those of the function");
    }
    const auto variable = [&](const std::string& text) {
      const auto found = find_symbol(text);
      if (!found) fail(statement, fmt::format("`{}` is not known", text));
      return *found;
    };
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const auto [to, bytes] = signature.parameters[k];
      emit_copy(statement, to, variable(arguments[k]), bytes);
    }
    calls_.emplace_back(kernel_.code.size(), name);
    emit(statement, "call", {});
    for (std::size_t k = 0; k < results.size(); ++k) {
      const auto [from, bytes] = signature.results[k];
      emit_copy(statement, variable(results[k]), from, bytes);
    }
    if (known_.insert(name).second) queue_.push_back(&callee);
  }

  const ModuleText& module_;
  const std::map<std::string, std::uint64_t>& variables_;
  Kernel kernel_;
  std::uint32_t next_register_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> constant_places_;
  Symbols module_symbols_;  // shared variables of the module

  std::deque<const Routine*> queue_;
  std::set<std::string> known_;
  std::map<std::string, std::uint32_t> begins_;
  std::map<std::string, Signature> signatures_;
  std::map<std::string, Symbols> formal_symbols_;
  std::vector<std::pair<std::size_t, std::string>> calls_;

  // Of the routine that is being decoded.
  const Routine* routine_ = nullptr;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
};

}  // namespace

Module::Module(std::string_view text, Memory& memory) : text_(parse_module(text)) {
  for (const Variable& variable : text_.variables) {
    if (variable.space == "shared") continue;
    std::byte* data = memory.acquire(variable.bytes);
    if (data == nullptr) throw Fault("there is no memory for the variables of a module");
    memory.begin_use(data, variable.bytes);
    memory.set_written(data, variable.bytes);
    std::fill_n(data, variable.bytes, std::byte{0});
    std::copy(variable.initial.begin(), variable.initial.end(), data);
    variables_[variable.name] = reinterpret_cast<std::uint64_t>(data);
  }
}

std::vector<std::string> Module::names() const {
  std::vector<std::string> names;
  for (const Routine& routine : text_.routines) {
    if (routine.is_entry) names.push_back(routine.name);
  }
  return names;
}

Kernel& Module::kernel(const std::string& name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  for (const Routine& routine : text_.routines) {
    if (!routine.is_entry || routine.name != name) continue;
    return kernels_[name] = Decoder(text_, variables_).decode(routine);
  }
  throw Fault(fmt::format("the module has no kernel `{}`", name));
}

}  // namespace ptx_machine
