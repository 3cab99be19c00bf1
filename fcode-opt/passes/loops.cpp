// Functions that call themselves last, or only combine what that gives with a number, on each
// element of vectors: a loop in a kernel.
//
// What the front end makes of such a function for many instances calls itself once for each round,
// and in each packs, computes and merges vectors. Where it knows a function for one instance that
// does the same (Function::serial), that one says what a round is, and a kernel does all rounds of
// an element in one go. So it does for that function itself, whose rounds are calls of the machine
// otherwise, each with operations on single numbers. Elements that fail, or that go on for very
// long, are left to the function as it was, which knows what to say.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/canonical.hpp"
#include "fcode-opt/passes/handed_on.hpp"
#include "fcode-opt/passes/loop_functions.hpp"
#include "fcode-opt/passes/loop_kernel.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

/// Behind so many rounds the function itself goes on, from the start: it stops where recursion is
/// too deep, which nearly always is a mistake by then. It takes seconds: not every device can be
/// interrupted before.
constexpr std::int64_t kMostIterations = 10'000'000;

/// For one instance a call that comes last takes no room: it may go on as long as anybody waits.
constexpr std::int64_t kMostSerialIterations = 1'000'000'000;

/// Rounds of loops inside say little of how deep a recursion is.
constexpr std::int64_t kMostWithInnerLoops = 100'000'000;

/// Nor do those of a stack, whose depth is what counts, or those of a loop that counts its own.
constexpr std::int64_t kMostOfAll = 1'000'000'000'000'000;

std::int64_t most_iterations(const LoopBody& body, bool serial) {
  if (body.stack || body.counted) return kMostOfAll;
  if (!serial) return body.has_inner_loops ? kMostWithInnerLoops : kMostIterations;
  return body.collects && !body.has_inner_loops ? LoopBody::kMostDepth : kMostSerialIterations;
}

class LoopMaker {
 public:
  explicit LoopMaker(Module& module) : module_(module), pool_(module) {}

  bool run() {
    // All are read first: functions of one instance are what the others are made of.
    const std::vector<Function>& functions = module_.functions;
    const auto has_serial = [](const Function& function) { return function.serial.has_value(); };
    if (std::none_of(functions.begin(), functions.end(), has_serial)) return false;
    const std::vector<std::vector<std::uint32_t>> groups = call_groups(module_);
    const std::vector<bool> recursive = recursive_functions(module_, groups);
    group_.resize(functions.size());
    for (std::uint32_t k = 0; k < groups.size(); ++k) {
      for (const std::uint32_t function : groups[k]) group_[function] = k;
    }
    std::vector<Loop> loops;
    for (std::uint32_t k = 0; k < functions.size(); ++k) {
      const auto& serial = functions[k].serial;
      if (!serial) continue;
      auto body = loop_body(module_, recursive, *serial);
      if (!body && has_scalar_results(functions[serial->function])) {
        body = recursion_body(module_, recursive, *serial);
      }
      if (!body) continue;
      // Where each instance makes one call after the other, many do well side by side.
      if (body->stack && !body->stack->branches && !serial->single) continue;
      std::vector<std::uint32_t> copied = this->copied(*serial, *body);
      loops.push_back({k, *serial, std::move(*body), std::move(copied)});
    }
    find_copying(loops, recursive);
    for (const Loop& loop : loops) make(loop);
    for (const Made& made : made_) go_on_in_rests(made);
    return !made_.empty();
  }

 private:
  struct Loop {
    std::uint32_t function;
    SerialFunction serial;
    LoopBody body;
    std::vector<std::uint32_t> copied;  // parameters: what the kernel copies before it begins
    bool is_for_short_ones = false;
  };

  /// Sequences that the loop changes, if it may have to begin anew, and lists, to give them room.
  static std::vector<std::uint32_t> copied(const SerialFunction& serial, const LoopBody& body) {
    std::vector<std::uint32_t> parameters;
    for (std::uint32_t k = 0; k < serial.parameters.size(); ++k) {
      const auto descriptor = serial.parameters[k].descriptor;
      const bool is_list =
          descriptor && std::count(body.lists.begin(), body.lists.end(), *descriptor);
      if (is_list || ((body.counted || body.stack) && body.writes_into(k))) parameters.push_back(k);
    }
    return parameters;
  }

  /// Where a recursion that is no kernel hands on a sequence from call to call, to copy it in each
  /// may be more than all the work of a loop that changes it. There the kernel is for short ones.
  void find_copying(std::vector<Loop>& loops, const std::vector<bool>& recursive) const {
    const auto copies = [](const Loop& loop) { return !loop.copied.empty(); };
    if (std::none_of(loops.begin(), loops.end(), copies)) return;
    std::vector<bool> made(recursive.size()), runs_calls = recursive;
    for (const Loop& loop : loops) {
      made[loop.function] = true;
      runs_calls[loop.function] = false;
    }
    HandedOn handed_on(module_, runs_calls, [&](const Statement& call, std::size_t result) {
      const auto loop = std::find_if(loops.begin(), loops.end(),
                                     [&](const Loop& each) { return each.function == call.index; });
      if (loop == loops.end() || !loop->body.results) return call.operands;
      const ExpressionId given = (*loop->body.results)[result];
      if (given < LoopBody::kSequences) return ValueList();
      return ValueList{call.operands[given - LoopBody::kSequences]};
    });
    const auto is_found = [&](const Loop& loop) {
      return !loop.is_for_short_ones && handed_on.any(loop.function, loop.copied, made);
    };
    for (;;) {
      const auto found = std::find_if(loops.begin(), loops.end(), is_found);
      if (found == loops.end()) return;
      // Of long ones the calls are those of the machine.
      found->is_for_short_ones = true;
      made[found->function] = false;
      runs_calls[found->function] = recursive[found->function];
    }
  }

  static bool has_scalar_results(const Function& function) {
    return std::all_of(
        function.result_types.begin(), function.result_types.end(),
        [](const std::optional<Type>& type) { return type && vcode::is_data(*type); });
  }

  /// A function that runs a loop now, and the one that it was.
  struct Made {
    std::uint32_t function, rest, serial;
  };

  /// What is left to a function as it was goes on in such functions, also where the call is that of
  /// a version for other parameters, or of a function that calls this one.
  void go_on_in_rests(const Made& made) {
    for_each_statement(module_.functions[made.rest].body, [&](Statement& statement) {
      if (statement.kind != Statement::Kind::Call) return;
      for (const Made& other : made_) {
        const bool again = group_[other.serial] == group_[made.serial];
        if (other.function != statement.index || !again) continue;
        statement.index = other.rest;
        break;
      }
    });
  }

  void make(const Loop& loop) {
    const LoopBody& body = loop.body;
    const std::uint32_t rest = add_function({});
    const Origin origin = module_.functions[loop.function].origin;
    const std::int64_t most = most_iterations(body, loop.serial.single);
    vcode::Kernel kernel = loop_kernel(module_, body, loop.serial, most, origin);
    LoopCalls calls{pool_.add(std::move(kernel), module_.functions[loop.function], origin), rest};
    if (!body.lists.empty()) calls.in_room = add_function({});
    if (loop.is_for_short_ones) calls.for_short_ones = add_function({});
    const Function& before = module_.functions[loop.function];
    Function run = loop_function(module_, before, loop.serial, body, calls, kMostSerialIterations);
    if (!body.lists.empty()) {
      run.name += "_ROOM";
      module_.functions[calls.in_room] = std::move(run);
      run = give_room(module_, before, loop.serial, body, calls);
    }
    if (loop.is_for_short_ones) {
      run.name += "_SHORT";
      module_.functions[calls.for_short_ones] = std::move(run);
      run = choose_by_length(module_, before, loop.serial, body, calls, loop.copied);
    }
    made_.push_back({loop.function, rest, loop.serial.function});
    Function left = std::exchange(module_.functions[loop.function], std::move(run));
    left.name += "_REST";
    left.serial.reset();
    left.fallback = body.results.has_value() && !loop.is_for_short_ones;
    module_.functions[rest] = std::move(left);
  }

  std::uint32_t add_function(Function function) {
    module_.functions.push_back(std::move(function));
    return static_cast<std::uint32_t>(module_.functions.size() - 1);
  }

  Module& module_;
  KernelPool pool_;
  std::vector<Made> made_;
  std::vector<std::uint32_t> group_;  // of functions that call each other, by function
};

}  // namespace

bool make_loops(Module& module) {
  return LoopMaker(module).run();
}

}  // namespace fcode
