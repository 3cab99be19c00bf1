#include "reference/machine.hpp"

#include <algorithm>
#include <utility>

namespace reference {
namespace {

using vcode::Constant;
using vcode::Instruction;
using vcode::LinkedProgram;
using vcode::Op;

struct LimitReached {};

class Machine {
 public:
  Machine(const LinkedProgram& program, const MachineOptions& options, Activation& activation)
      : program_(program),
        options_(options),
        activation_(activation),
        stack_(activation.stack),
        random_(activation.random),
        next_input_(activation.next_input) {}

  Outcome run() {
    try {
      loop();
      outcome_.finished = true;
      if (!outcome_.exited) {
        for (const Value& value : stack_) outcome_.output += format(value);
      }
      activation_.stack = std::move(stack_);
      activation_.random = random_;
      activation_.next_input = next_input_;
    } catch (const Failure& failure) {
      outcome_.finished = true;
      outcome_.failure = failure.code;
      outcome_.failed_at = pc_;
    } catch (const LimitReached&) {
    }
    return std::move(outcome_);
  }

 private:
  void loop() {
    pc_ = program_.functions[activation_.function].begin;
    for (std::uint64_t step = 0; !done_; ++step) {
      if (step == options_.max_steps) throw LimitReached{};
      execute(program_.code[pc_]);
    }
  }

  void execute(const Instruction& instruction) {
    const vcode::OpInfo& row = info(instruction.op);
    std::uint32_t next = pc_ + 1;
    if (row.is_vector_op()) {
      vector_operation(instruction, row);
    } else {
      switch (instruction.op) {
        case Op::Copy:
        case Op::Pop:
        case Op::CPop:
          block(instruction);
          break;
        case Op::Pair: {
          need(2);
          Value second = take();
          Value first = take();
          stack_.emplace_back(
              std::make_shared<const PairNode>(PairNode{std::move(first), std::move(second)}));
          break;
        }
        case Op::Unpair: {
          need(1);
          if (type_of(stack_.back()) != Type::Pair) throw Failure{ErrorCode::TypeMismatch};
          const Pair pair = std::get<Pair>(take());
          stack_.push_back(pair->first);
          stack_.push_back(pair->second);
          break;
        }
        case Op::Call:
          calls_.push_back(next);
          next = program_.functions[instruction.a].begin;
          break;
        case Op::Return:
          done_ = calls_.empty();
          if (!done_) {
            next = calls_.back();
            calls_.pop_back();
          }
          break;
        case Op::If:
          need(1);
          if (!scalar<Bools>(stack_.back())) next = instruction.a;
          stack_.pop_back();
          break;
        case Op::Else:
          next = instruction.a;
          break;
        case Op::EndIf:
        case Op::StartTimer:
          break;
        case Op::StopTimer:
          stack_.emplace_back(Floats{0.0});
          break;
        case Op::Exit:
          done_ = outcome_.exited = true;
          break;
        case Op::Const:
          stack_.push_back(constant(program_.constants[instruction.a]));
          break;
        case Op::Srand:
          need(1);
          random_ = Random(static_cast<std::uint64_t>(scalar<Ints>(stack_.back())));
          stack_.back() = Bools{1};
          break;
        case Op::Read:
          read(instruction.type);
          break;
        case Op::Write:
          need(1);
          write(instruction.type, 2);
          break;
        case Op::FWrite: {
          need(2);
          const std::int64_t stream = scalar<Ints>(stack_.back());
          stack_.pop_back();
          write(instruction.type, stream);
          break;
        }
        default:
          throw LimitReached{};  // other input and output is outside the reference
      }
    }
    if (!done_) pc_ = next;
  }

  void need(std::size_t count) const {
    if (stack_.size() < count) throw Failure{ErrorCode::StackUnderflow};
  }

  Value take() {
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }

  /// The only element of a scalar of type V.
  template <class V>
  typename V::value_type scalar(const Value& value) const {
    const V* vector = std::get_if<V>(&value);
    if (vector == nullptr) throw Failure{ErrorCode::TypeMismatch};
    if (vector->size() != 1) throw Failure{ErrorCode::NotAScalar};
    return vector->front();
  }

  void vector_operation(const Instruction& instruction, const vcode::OpInfo& row) {
    need(row.operands.size());
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(row.operands.size());
    const std::vector<Value> operands(first, stack_.end());
    for (const Value& operand : operands) {
      // What the result can grow to is known from the descriptors.
      const auto* segdes = std::get_if<Segdes>(&operand);
      if (segdes != nullptr && segdes->total() > options_.max_elements) throw LimitReached{};
    }
    std::vector<Value> results = evaluate(instruction.op, instruction.type, options_.widths,
                                          random_, operands, options_.strict);
    stack_.erase(first, stack_.end());
    std::move(results.begin(), results.end(), std::back_inserter(stack_));
  }

  void block(const Instruction& instruction) {
    const std::size_t count = instruction.a;
    const std::size_t start = instruction.b;
    need(count + start);
    const auto end = stack_.end() - static_cast<std::ptrdiff_t>(start);
    const auto begin = end - static_cast<std::ptrdiff_t>(count);
    const std::vector<Value> values(begin, end);
    if (instruction.op != Op::Copy) stack_.erase(begin, end);
    if (instruction.op != Op::Pop) stack_.insert(stack_.end(), values.begin(), values.end());
  }

  Value constant(const Constant& constant) const {
    switch (constant.type) {
      case Type::Float: {
        Floats floats = constant.floats();
        for (double& number : floats) number = options_.widths.round(number);
        return floats;
      }
      case Type::Bool:
        return constant.bools();
      case Type::Segdes:
        return Segdes{constant.ints()};
      default:
        return constant.ints();
    }
  }

  /// The next value and the two of the status.
  void read(Type type) {
    if (type != Type::Int || next_input_ == options_.input.size()) throw LimitReached{};
    stack_.emplace_back(options_.input[next_input_++]);
    stack_.emplace_back(Ints{});
    stack_.emplace_back(Bools{1});
  }

  /// Writes the top of the stack and replaces it by the two status values.
  void write(Type written, std::int64_t stream) {
    const Value value = take();
    if (type_of(value) == Type::Pair) throw Failure{ErrorCode::TypeMismatch};
    std::string text;
    if (written == Type::Char) {
      if (type_of(value) != Type::Int) throw Failure{ErrorCode::TypeMismatch};
      for (const std::int64_t code : std::get<Ints>(value)) text += static_cast<char>(code & 0xFF);
    } else {
      text = format(value);
    }
    const bool open = stream == 1 || stream == 2;
    if (!open) throw LimitReached{};  // the message of the failure is not defined
    (stream == 1 ? outcome_.output : outcome_.error) += text;
    stack_.emplace_back(Ints{});
    stack_.emplace_back(Bools{1});
  }

  const LinkedProgram& program_;
  const MachineOptions options_;
  Activation& activation_;
  Outcome outcome_;
  std::vector<Value> stack_;
  std::vector<std::uint32_t> calls_;
  Random random_;
  std::size_t next_input_;
  std::uint32_t pc_ = 0;
  bool done_ = false;
};

}  // namespace

Outcome run(const LinkedProgram& program, const MachineOptions& options) {
  Activation activation;
  activation.function = program.entry;
  return run(program, options, activation);
}

Outcome run(const LinkedProgram& program, const MachineOptions& options, Activation& activation) {
  return Machine(program, options, activation).run();
}

}  // namespace reference
