// A program under construction, together with the stack that it has when it gets there.
//
// Every instruction is run on the reference evaluator as it is added, so that the generator always
// knows types, lengths and elements, and an instruction that would fail is never added unless that
// is wanted. Values on the stack have ids, by which they are fetched from wherever they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/machine.hpp"
#include "vcode-smith/test_program.hpp"

namespace smith {

using Id = std::uint64_t;

struct Entry {
  Id id;
  reference::Value value;
};

/// A place to come back to when an attempt fails.
struct Mark {
  std::size_t functions;
  std::size_t outer;
  std::size_t code;
  std::size_t constants;
  std::size_t names;
  std::vector<Entry> stack;
  reference::Random random;
  std::size_t next_input;
};

class Builder {
 public:
  /// `input`: what READ INT finds, one after the other.
  Builder(const reference::Widths& widths, bool strict, std::int64_t max_elements,
          std::vector<reference::Ints> input);

  const reference::Widths& widths() const { return widths_; }
  bool strict() const { return strict_; }
  std::int64_t max_elements() const { return max_elements_; }

  const std::vector<Entry>& stack() const { return stack_; }
  std::size_t height() const { return stack_.size(); }
  const reference::Value& value(Id id) const { return stack_[place(id)].value; }
  Id top() const { return stack_.back().id; }
  std::size_t code_size() const { return code_.size(); }

  Mark mark() const;
  void rewind(const Mark& mark);

  // Each adds one instruction; all but emit() cannot fail.
  Id push(vcode::Constant constant);
  Id push_int(std::int64_t number);
  Id push_ints(reference::Ints numbers);
  Id push_floats(reference::Floats numbers);
  Id push_bools(reference::Bools flags);
  Id push_segdes(std::vector<std::int64_t> lengths);
  /// The next value of the input; nothing is added when there is none.
  std::optional<Id> read();
  /// A vector operation on the topmost entries. On failure the stack stays as it is; with `keep`
  /// the instruction stays in the code and the program is over.
  std::optional<reference::Failure> emit(vcode::Op op, vcode::Type type, bool keep = false);
  void block(vcode::Op op, std::size_t count, std::size_t start);
  void pair();
  void unpair();
  /// Instructions without an effect on the known state, or one that the caller accounts for.
  void raw(vcode::Instruction instruction) { code_.push_back(instruction); }
  void drop(std::size_t count) { stack_.resize(stack_.size() - count); }
  Id place_on_top(reference::Value value);
  void reseed(std::uint64_t seed) { random_ = reference::Random(seed); }
  /// Goes on with the stack, the random numbers and the input as they were; the code stays.
  void go_back(const Mark& mark) {
    stack_ = mark.stack;
    random_ = mark.random;
    next_input_ = mark.next_input;
  }

  /// Copies (or moves) an entry to the top.
  void fetch(Id id, bool move);

  // Functions. Code is added to the innermost function that was begun.
  /// Returns the name that it will have.
  std::string begin_function();
  void end_function();
  std::size_t function_count() const { return functions_.size(); }
  const std::string& function_name(std::size_t i) const { return functions_[i].name; }
  /// Adds a CALL and runs it; nothing is added when it fails or takes too long.
  bool call(const std::string& name);
  /// A CALL that is not run: of the function under construction, by itself.
  void raw_call(const std::string& name);

  /// The whole program: MAIN is what was added outside functions.
  TestProgram finish() const;

 private:
  std::size_t place(Id id) const;
  std::uint32_t name_index(const std::string& name);
  vcode::Program program_with(std::vector<vcode::Instruction> main) const;

  reference::Widths widths_;
  bool strict_;
  std::int64_t max_elements_;
  std::vector<vcode::Instruction> code_;
  struct Outer {
    std::vector<vcode::Instruction> code;  // of the surrounding function
    std::string name;                      // of the one that was begun
  };
  std::vector<Outer> outer_;
  int begun_ = 0;
  std::vector<vcode::Function> functions_;
  std::vector<vcode::Constant> constants_;
  std::vector<std::string> names_;
  std::vector<Entry> stack_;
  reference::Random random_;
  std::vector<reference::Ints> input_;
  std::size_t next_input_ = 0;
  Id next_id_ = 1;
};

}  // namespace smith
