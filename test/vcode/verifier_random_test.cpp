// Random programs, walked by the verifier and then run over types in place of values, with random
// conditions. The two must agree:
//   - an instruction that the verifier reports as failing is never executed with success,
//   - a program that it accepts without reservation never fails.
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sanitized.hpp"
#include "support.hpp"

namespace vcode::testing {
namespace {

struct Value {
  Type type;
  std::optional<bool> truth;
  std::shared_ptr<const std::pair<Value, Value>> components;
};

enum class End { Normal, Exit, Failure, TooDeep };

// Runs a linked program over types. The rules are those of the machine, written out plainly.
class TypeMachine {
 public:
  TypeMachine(const LinkedProgram& program, std::mt19937& random)
      : program_(program), random_(random) {}

  End run() { return call(program_.entry, 0); }
  std::uint32_t at() const { return at_; }
  const std::set<std::uint32_t>& executed() const { return executed_; }

 private:
  static constexpr int kDeepest = 12;

  End call(std::uint32_t function, int depth) {
    if (depth > kDeepest) return End::TooDeep;
    for (std::uint32_t i = program_.functions[function].begin;;) {
      const Instruction& instruction = program_.code[i];
      at_ = i;
      const std::uint32_t here = i++;
      switch (instruction.op) {
        case Op::Return:
          return End::Normal;
        case Op::Exit:
          return End::Exit;
        case Op::Call: {
          const End end = call(instruction.a, depth + 1);
          if (end != End::Normal) return end;
          break;
        }
        case Op::If: {
          if (stack_.empty() || stack_.back().type != Type::Bool) return End::Failure;
          const bool taken = stack_.back().truth.value_or(random_() % 2 == 0);
          stack_.pop_back();
          if (!taken) i = instruction.a;
          break;
        }
        case Op::Else:
          i = instruction.a;
          break;
        case Op::EndIf:
          break;
        default:
          if (!execute(instruction)) return End::Failure;
      }
      executed_.insert(here);
    }
  }

  bool execute(const Instruction& instruction) {
    const std::size_t size = stack_.size();
    switch (instruction.op) {
      case Op::Copy:
      case Op::Pop:
      case Op::CPop: {
        const std::size_t count = instruction.a, start = instruction.b;
        if (count + start > size) return false;
        const auto end = stack_.end() - static_cast<std::ptrdiff_t>(start);
        const auto begin = end - static_cast<std::ptrdiff_t>(count);
        const std::vector<Value> block(begin, end);
        if (instruction.op != Op::Copy) stack_.erase(begin, end);
        if (instruction.op != Op::Pop) stack_.insert(stack_.end(), block.begin(), block.end());
        return true;
      }
      case Op::Pair: {
        if (size < 2) return false;
        auto both = std::make_shared<std::pair<Value, Value>>(stack_[size - 2], stack_[size - 1]);
        stack_.resize(size - 2);
        stack_.push_back({Type::Pair, {}, std::move(both)});
        return true;
      }
      case Op::Unpair: {
        if (size < 1 || stack_.back().type != Type::Pair) return false;
        const auto both = stack_.back().components;
        stack_.pop_back();
        stack_.push_back(both->first);
        stack_.push_back(both->second);
        return true;
      }
      case Op::Const: {
        const Constant& constant = program_.constants[instruction.a];
        Value value{constant.type, {}, {}};
        if (constant.type == Type::Bool) value.truth = constant.bools()[0] != 0;
        stack_.push_back(value);
        return true;
      }
      default:
        return apply_row(instruction);
    }
  }

  bool apply_row(const Instruction& instruction) {
    const OpInfo& op = info(instruction.op);
    if (stack_.size() < op.operands.size()) return false;
    const std::size_t base = stack_.size() - op.operands.size();
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Type found = stack_[base + i].type;
      const auto wanted = operand_type(op.operands[i], instruction.type);
      if (wanted ? found != *wanted : op.operands[i] == '?' && !is_data(found)) return false;
      if (op.operands[i] == '*' && found == Type::Pair) return false;
    }
    stack_.resize(base);
    for (char letter : op.results)
      stack_.push_back({*operand_type(letter, instruction.type), {}, {}});
    return true;
  }

  const LinkedProgram& program_;
  std::mt19937& random_;
  std::vector<Value> stack_;
  std::set<std::uint32_t> executed_;
  std::uint32_t at_ = 0;
};

class Generator {
 public:
  explicit Generator(std::mt19937& random) : random_(random) {}

  std::string program() {
    functions_ = 1 + below(4);
    std::string text;
    for (std::uint32_t i = 0; i < functions_; ++i) {
      text += "FUNC f" + std::to_string(i) + "\n";
      // The entry finds an empty stack: give it something to work on.
      if (i == 0) text += "CONST INT 1 CONST FLOAT 1.0 CONST INT 2 CONST BOOL T CONST INT 3\n";
      text += block(2) + "RET\n";
    }
    return text;
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  std::string block(int depth) {
    std::string text;
    for (std::uint32_t count = below(6); count > 0; --count) text += instruction(depth) + "\n";
    return text;
  }

  std::string instruction(int depth) {
    static const std::vector<std::string> kPlain = {"CONST INT 1",
                                                    "CONST INT 5",
                                                    "CONST FLOAT 1.5",
                                                    "CONST BOOL T",
                                                    "CONST BOOL F",
                                                    "CONST SEGDES 1",
                                                    "READ BOOL POP 2 0",
                                                    "READ INT POP 2 0",
                                                    "COPY 1 0",
                                                    "COPY 1 1",
                                                    "COPY 2 0",
                                                    "POP 1 0",
                                                    "POP 1 1",
                                                    "CPOP 1 1",
                                                    "CPOP 1 2",
                                                    "PAIR",
                                                    "UNPAIR",
                                                    "NOT INT",
                                                    "+ INT",
                                                    "I_TO_F",
                                                    "I_TO_B",
                                                    "LENGTH INT",
                                                    "WRITE INT POP 2 0",
                                                    "FLOOR",
                                                    "DIST INT"};
    const std::uint32_t kind = below(12);
    if (kind == 0) return "CALL f" + std::to_string(below(functions_));
    if (kind == 1 && below(4) == 0) return "EXIT";
    if (kind <= 4 && depth > 0) {
      const std::string condition = below(5) == 0 ? "" : "READ BOOL POP 2 0 ";
      return condition + "IF\n" + block(depth - 1) + (below(2) ? "ELSE\n" + block(depth - 1) : "") +
             "ENDIF";
    }
    return kPlain[below(static_cast<std::uint32_t>(kPlain.size()))];
  }

  std::mt19937& random_;
  std::uint32_t functions_ = 1;
};

TEST_CASE("the verifier agrees with running over types", "[verifier]") {
  std::mt19937 random(20240607);
  int accepted = 0, refused = 0;
  for (int i = 0; i < ::testing::some_of(20000); ++i) {
    const std::string text = Generator(random).program();
    const Outcome outcome = verify_text(text);
    REQUIRE(outcome.verification);
    const LinkedProgram& program = *outcome.linked;
    std::set<std::pair<std::uint32_t, std::uint32_t>> failing;  // lines and columns
    for (const Diagnostic& error : outcome.diagnostics.all()) {
      if (error.code != ErrorCode::BranchShape) failing.emplace(error.span.line, error.span.column);
    }
    bool certain = !outcome.diagnostics.has_errors();
    for (std::size_t f = 0; f < program.functions.size(); ++f) {
      if (outcome.verification->reachable[f] && outcome.verification->guarded[f]) certain = false;
    }
    accepted += certain;
    refused += !failing.empty();
    for (int run = 0; run < 10; ++run) {
      TypeMachine machine(program, random);
      const End end = machine.run();
      INFO(text << '\n' << outcome.messages() << print(*outcome.verification, program));
      INFO("stopped at instruction " << machine.at());
      if (certain) REQUIRE(end != End::Failure);
      for (std::uint32_t at : machine.executed()) {
        const Span span = program.code[at].span;
        REQUIRE_FALSE(failing.contains({span.line, span.column}));
      }
    }
  }
  // Both kinds must occur often enough to mean something.
  CHECK(accepted > ::testing::some_of(5000));
  CHECK(refused > ::testing::some_of(5000));
}

}  // namespace
}  // namespace vcode::testing
