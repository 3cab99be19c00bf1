#include "vcode-smith/long_generator.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "vcode/diagnostics.hpp"
#include "vcode/parser.hpp"

namespace smith {
namespace {

using property::Random;
using vcode::Family;
using vcode::OpInfo;
using vcode::Type;

/// Lengths that are equal because of how the vectors are made have the same number.
using Size = std::size_t;
constexpr Size kOne = 0;

struct StackEntry {
  Type type;
  Size length;            // of a descriptor: of what it describes
  Size segments = kOne;   // of a descriptor
  std::int64_t most = 0;  // INT: elements are from 0 to this; 0: nothing is known
};

constexpr int kDeepest = 3;           // of expressions
constexpr double kMostElements = 14;  // on the stack, as a multiple of the length
constexpr double kLongestResult = 3;  // likewise
constexpr double kMostWork = 70;      // elements of all results, likewise
constexpr double kLongestSort = 2e6;  // elements that are ranked
constexpr double kRounds = 3;         // of a recursion, about

class LongGenerator {
 public:
  LongGenerator(const LongOptions& options, Random& random)
      : length_(static_cast<double>(options.length)),
        steps_(options.size),
        random_(random),
        expected_{1} {
    for (const OpInfo& row : vcode::all_ops()) {
      if (row.family == Family::Elementwise) elementwise_.push_back(&row);
      if (row.family == Family::Scan) scans_.push_back(&row);
      if (row.family == Family::Reduce) reductions_.push_back(&row);
      if (row.family == Family::Permute || row.family == Family::Combine) moves_.push_back(&row);
    }
  }

  TestProgram run() {
    for (std::int64_t i = random_.between(1, 2); i > 0; --i) begin();
    for (std::int64_t i = random_.between(3, steps_); i > 0 && work_ < kMostWork * length_; --i) {
      step();
      while (elements() > kMostElements * length_) pop_any();
    }
    vcode::Diagnostics diagnostics;
    auto program = vcode::parse(std::make_shared<const vcode::Source>(
                                    "generated", functions_ + "FUNC MAIN\n" + code_ + "RET\n"),
                                diagnostics);
    if (!program) throw std::logic_error("a program that does not parse");
    return {std::move(*program), std::move(input_)};
  }

 private:
  // ---- Code

  void add(const std::string& text) { code_ += text + "\n"; }
  void push(StackEntry entry) { stack_.push_back(entry); }
  /// An operation on the topmost values with one result.
  void apply(const std::string& text, std::size_t operands, StackEntry result) {
    add(text);
    stack_.resize(stack_.size() - operands);
    push(result);
    work_ += expected_[result.length] * (nesting_ > 0 ? kRounds : 1);
  }
  void apply(const OpInfo& row, Type type, StackEntry result) {
    const std::string typed =
        row.takes_type() ? fmt::format(" {}", vcode::type_name(type)) : std::string();
    apply(std::string(row.text) + typed, row.operands.size(), result);
  }
  void integer(std::int64_t number) {
    add(fmt::format("CONST INT {}", number));
    push({Type::Int, kOne, kOne, std::max<std::int64_t>(number, 0)});
  }
  void copy(std::size_t place) {
    add(fmt::format("COPY 1 {}", stack_.size() - 1 - place));
    push(stack_[place]);
  }
  void pop(std::size_t place) {
    add(fmt::format("POP 1 {}", stack_.size() - 1 - place));
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(place));
  }
  Size new_size(double expected) {
    expected_.push_back(expected);
    return expected_.size() - 1;
  }
  std::int64_t between(double low, double high) {
    return random_.between(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
  }
  Type data_type() {
    return random_.pick(std::vector<Type>{Type::Int, Type::Int, Type::Bool, Type::Float});
  }
  double elements() const {
    double sum = 0;
    for (const StackEntry& entry : stack_) sum += expected_[entry.length];
    return sum;
  }

  template <class Condition>
  std::vector<std::size_t> places(Condition condition) const {
    std::vector<std::size_t> found;
    for (std::size_t i = base_; i < stack_.size(); ++i) {
      if (condition(stack_[i])) found.push_back(i);
    }
    return found;
  }

  // ---- Lengths

  void read(std::int64_t number) {
    input_.push_back({number});
    add("READ INT\nPOP 2 0");
    push({Type::Int, kOne});
  }

  /// Makes a descriptor and a vector over it.
  void begin() {
    const double sizes[] = {1, 2, 3, 7, 100, 3000, length_ / 2};
    const double each = std::min(sizes[random_.between(0, 6)], length_);
    const double count = std::max(1.0, length_ / each);
    switch (random_.between(0, 3)) {
      case 0:  // one segment; some lengths are drawn
        read(between(0.9 * length_, 1.1 * length_));
        if (random_.chance(0.5)) add("CONST INT 1000\nRAND\n+ INT");
        apply("MAKE_SEGDES", 1, {Type::Segdes, new_size(length_), kOne});
        break;
      case 1:
        read(static_cast<std::int64_t>(each));
        segment_lengths(count, Lengths::Equal);
        break;
      case 2:
        read(static_cast<std::int64_t>(2 * each + 1));
        segment_lengths(count, Lengths::Drawn);
        break;
      default:
        read(random_.between(0, 2));
        segment_lengths(length_ / 2, Lengths::OneLong);
        break;
    }
    make(data_type(), stack_.back().length);
  }

  enum class Lengths { Equal, Drawn, OneLong };

  /// From the number on top a descriptor of about `count` segments.
  void segment_lengths(double count, Lengths kind) {
    read(static_cast<std::int64_t>(count));
    const Size segments = new_size(count);
    apply("MAKE_SEGDES", 1, {Type::Segdes, segments, kOne});
    apply("DIST INT", 2, {Type::Int, segments});
    if (kind == Lengths::Drawn) add("RAND");
    if (kind == Lengths::OneLong) {
      const std::size_t lengths = stack_.size() - 1;
      integer(0);
      read(static_cast<std::int64_t>(length_ / 2));
      one_segment(stack_[lengths].length);
      apply("REPLACE INT", 4, {Type::Int, segments});
    }
    if (random_.chance(0.5)) copy(stack_.size() - 1);
    apply("MAKE_SEGDES", 1, {Type::Segdes, new_size(length_), segments});
  }

  /// A descriptor of one segment of that length, which some value must have.
  void one_segment(Size length) {
    if (length == kOne) {
      add("CONST SEGDES 1");
      return push({Type::Segdes, kOne, kOne});
    }
    const auto found = places([&](const StackEntry& entry) {
      return entry.length == length && (entry.type != Type::Segdes || entry.segments == kOne);
    });
    if (found.empty()) {  // only descriptors of several segments
      const auto described =
          places([&](const StackEntry& entry) { return entry.length == length; });
      copy(random_.pick(described));
      add("COPY 1 0\nLENGTHS\nCPOP 1 1\nDIST INT");
      stack_.back() = {Type::Int, length};
    } else {
      copy(random_.pick(found));
    }
    if (stack_.back().type == Type::Segdes) return;
    apply(fmt::format("LENGTH {}", vcode::type_name(stack_.back().type)), 1, {Type::Int, kOne});
    apply("MAKE_SEGDES", 1, {Type::Segdes, length, kOne});
  }

  /// Some descriptor of elements of that length.
  void segdes(Size length) {
    const auto found = places([&](const StackEntry& entry) {
      return entry.type == Type::Segdes && entry.length == length;
    });
    if (found.empty() || random_.chance(0.3)) return one_segment(length);
    copy(random_.pick(found));
  }

  // ---- Values: each leaves one more on the stack

  void constant(Type type, Size length, std::int64_t number) {
    integer(number);
    if (type == Type::Float) add("I_TO_F\nCONST FLOAT 0.25\n* FLOAT");
    if (type == Type::Bool) add("CONST INT 1\nAND INT\nI_TO_B");
    stack_.back().type = type;
    if (length == kOne) return;
    one_segment(length);
    apply(fmt::format("DIST {}", vcode::type_name(type)), 2, {type, length, kOne, number});
  }

  /// Something new.
  void make(Type type, Size length) {
    const std::int64_t choice = random_.between(0, 9);
    if (choice < 2) return constant(type, length, random_.between(-3, 40));
    if (choice < 6) {
      integer(random_.between(-100, 100));
      integer(random_.between(-3, 3));
      one_segment(length);
      apply("INDEX", 3, {Type::Int, length});
      if (random_.chance(0.5)) {  // something less regular
        constant(Type::Int, length, random_.between(3, 100'000));
        apply("* INT", 2, {Type::Int, length});
        constant(Type::Int, length, random_.between(100, 1'000'003));
        apply("%", 2, {Type::Int, length});
      }
    } else {
      const std::int64_t bound = random_.between(1, 1'000'000);
      constant(Type::Int, length, bound);
      apply("RAND", 1, {Type::Int, length, kOne, bound});
    }
    if (type == Type::Float) {
      apply("I_TO_F", 1, {Type::Float, length});
      constant(Type::Float, length, random_.between(-9, 9));
      apply("* FLOAT", 2, {Type::Float, length});
    }
    if (type == Type::Bool) {
      constant(Type::Int, length, random_.pick(std::vector<std::int64_t>{1, 3, 15}));
      apply("AND INT", 2, {Type::Int, length});
      apply("I_TO_B", 1, {Type::Bool, length});
    }
  }

  void expression(Type type, Size length, int depth) {
    const auto found = places(
        [&](const StackEntry& entry) { return entry.type == type && entry.length == length; });
    if (!found.empty() && random_.chance(depth == 0 ? 0.85 : 0.25)) {
      return copy(random_.pick(found));
    }
    if (depth == 0) return make(type, length);
    const std::int64_t choice = random_.between(0, 99);
    if (choice < 60) {
      elementwise(type, length, depth);
    } else if (choice < 72) {
      folded(scans_, type, length, length, depth);
    } else if (choice < 80) {
      broadcast(type, length, depth);
    } else if (choice < 92) {
      moved(type, length, depth);
    } else if (type != Type::Bool && expected_[length] < kLongestSort && choice < 94) {
      ordered(type, length);
    } else {
      make(type, length);
    }
  }

  void elementwise(Type type, Size length, int depth) {
    const OpInfo* row = nullptr;
    std::optional<Type> written;
    while (!written) {  // one that gives this type
      row = random_.pick(elementwise_);
      for (const Type each : {data_type(), Type::Int, Type::Float}) {
        if (row->takes_type() && !row->allows(each)) continue;
        if (vcode::operand_type(row->results[0], each) == type) written = each;
      }
    }
    for (std::size_t i = 0; i < row->operands.size(); ++i) {
      const Type operand = vcode::operand_type(row->operands[i], *written).value_or(*written);
      const bool divisor = i == 1 && operand == Type::Int &&
                           (row->op == vcode::Op::Divide || row->op == vcode::Op::Modulo);
      if (divisor && random_.chance(0.99)) {
        constant(Type::Int, length, random_.between(1, 9));
      } else {
        expression(operand, length, depth - 1);
      }
    }
    apply(*row, *written, {type, length});
  }

  /// A scan or reduction.
  void folded(const std::vector<const OpInfo*>& rows, Type type, Size length, Size result,
              int depth) {
    const OpInfo* row = random_.pick(rows);
    while (!row->allows(type)) row = random_.pick(rows);
    expression(type, length, depth - 1);
    if (rows == scans_) {
      segdes(length);
    } else {
      segdes_between(length, result);
    }
    apply(*row, type, {type, result});
  }

  void segdes_between(Size length, Size segments) {
    if (segments == kOne) return one_segment(length);
    copy(random_.pick(places([&](const StackEntry& entry) {
      return entry.type == Type::Segdes && entry.length == length && entry.segments == segments;
    })));
  }

  /// One value for each segment, for all its elements.
  void broadcast(Type type, Size length, int depth) {
    segdes(length);
    const StackEntry over = stack_.back();
    if (over.segments == kOne || random_.chance(0.5)) {
      folded(reductions_, type, length, over.segments, depth);
    } else {
      add("COPY 1 0\nLENGTHS");
      push({Type::Int, over.segments});
      expression(type, over.segments, depth - 1);
      add("CPOP 1 1\nPOP 1 0");
      stack_.erase(stack_.end() - 2);
    }
    add("CPOP 1 1");
    apply(fmt::format("DIST {}", vcode::type_name(type)), 2, {type, length});
  }

  /// Indices of `length` elements into segments of the other length.
  void indices(Size length, Size into) {
    if (length == into && random_.chance(0.4)) {
      const bool down = random_.chance(0.4);
      if (down) {
        one_segment(length);
        add("LENGTHS\nCONST INT -1\n+ INT");
        stack_.back() = {Type::Int, kOne};
      } else {
        integer(0);
      }
      integer(down ? -1 : 1);
      one_segment(length);
      return apply("INDEX", 3, {Type::Int, length});
    }
    one_segment(into);
    apply("LENGTHS", 1, {Type::Int, kOne});
    one_segment(length);
    apply("DIST INT", 2, {Type::Int, length});
    if (random_.chance(0.5)) return apply("RAND", 1, {Type::Int, length});
    // Neighbours go to neighbouring places.
    const std::size_t bound = stack_.size() - 1;
    integer(random_.between(0, 50));
    integer(random_.between(1, 2));
    one_segment(length);
    apply("INDEX", 3, {Type::Int, length});
    copy(bound);
    apply("%", 2, {Type::Int, length});
    pop(bound);
  }

  void ordered(Type type, Size length) {
    const bool sorted = type == Type::Float || random_.chance(0.5);
    expression(sorted || random_.chance(0.5) ? type : Type::Float, length, 0);
    const Type keys = stack_.back().type;
    segdes(length);
    apply(fmt::format("{} {}", sorted ? "SORT_UP" : "RANK_UP", vcode::type_name(keys)), 2,
          {type, length});
  }

  /// Elements that have been moved or combined, by one descriptor of a segment on either side.
  void moved(Type type, Size length, int depth) {
    const OpInfo* row = random_.pick(moves_);
    while (!row->allows(type)) row = random_.pick(moves_);
    const bool fetches = row->op == vcode::Op::BPermute || row->op == vcode::Op::BFPermute;
    const auto others = places([&](const StackEntry& entry) {
      return entry.type != Type::Segdes && expected_[entry.length] > 100 &&
             expected_[entry.length] < kLongestResult * length_;
    });
    const bool same = row->op == vcode::Op::Permute || others.empty() || random_.chance(0.4);
    const Size source = same ? length : stack_[random_.pick(others)].length;
    const Size walked = fetches ? length : source;
    for (std::size_t i = 0; i < row->operands.size(); ++i) {
      switch (row->operands[i]) {
        case 'I':
          indices(walked, fetches ? source : length);
          break;
        case 'B':
          expression(Type::Bool, walked, depth - 1);
          break;
        case 'S':
          one_segment(i + 1 == row->operands.size() && row->op != vcode::Op::Permute ? length
                                                                                     : source);
          break;
        default:
          expression(type, i == 0 ? source : length, i == 0 ? depth - 1 : 0);
      }
    }
    apply(*row, type, {type, length});
  }

  // ---- Steps

  /// A value that is long enough to work on.
  StackEntry some() {
    const auto found =
        places([&](const StackEntry& entry) { return expected_[entry.length] > length_ / 50; });
    return found.empty() ? stack_.back() : stack_[random_.pick(found)];
  }

  void step() {
    const Size length = some().length;
    const std::int64_t choice = random_.between(0, 99);
    if (choice < 40) {
      expression(data_type(), length, static_cast<int>(random_.between(1, kDeepest)));
    } else if (choice < 50) {
      reduction(length);
    } else if (choice < 60) {
      filter(length);
    } else if (choice < 68) {
      segments(length);
    } else if (choice < 72) {
      inside_segments(length);
    } else if (choice < 78) {
      conditional(length);
    } else if (choice < 83) {
      recursion(length);
    } else if (choice < 88) {
      barrier();
    } else if (choice < 92) {
      begin();
    } else {
      pop_any();
    }
  }

  /// Nothing moves across it, so that what lies there is in memory.
  void barrier() { add("START_TIMER\nSTOP_TIMER\nPOP 1 0"); }

  void pop_any() {
    if (stack_.size() > 1) pop(static_cast<std::size_t>(between(0, double(stack_.size() - 1))));
  }

  void reduction(Size length) {
    segdes(length);
    const Size segments = stack_.back().segments;
    folded(reductions_, data_type(), length, segments, 2);
    pop(stack_.size() - 2);
  }

  void filter(Size length) {
    const Type type = data_type();
    expression(type, length, 1);
    const std::int64_t most = stack_.back().most;
    expression(Type::Bool, length, 2);
    segdes(length);
    const Size segments = stack_.back().segments, kept = new_size(expected_[length] / 2);
    apply(fmt::format("PACK {}", vcode::type_name(type)), 3, {type, kept, kOne, most});
    push({Type::Segdes, kept, segments});
  }

  /// A descriptor of segments of small lengths, which come from data.
  void segments(Size length) {
    const auto found = places([&](const StackEntry& entry) {
      return entry.type == Type::Int && entry.length == length && entry.most > 0 &&
             expected_[length] * double(entry.most) < 2 * kLongestResult * length_;
    });
    if (!found.empty() && random_.chance(0.6)) {
      copy(random_.pick(found));
    } else {
      expression(Type::Int, length, 1);
      const std::int64_t most = random_.pick(std::vector<std::int64_t>{1, 3});
      constant(Type::Int, length, most);
      apply("AND INT", 2, {Type::Int, length, kOne, most});
    }
    if (expected_[length] * double(stack_.back().most) > 2 * kLongestResult * length_) return;
    if (random_.chance(0.6)) gather_all(length);
    const double total = expected_[length] * double(stack_.back().most) / 2;
    if (random_.chance(0.6)) copy(stack_.size() - 1);
    apply("MAKE_SEGDES", 1, {Type::Segdes, new_size(total), length});
  }

  /// Fetches the lengths on top of the stack, and other vectors, from the same places.
  void gather_all(Size length) {
    const std::size_t lengths = stack_.size() - 1;
    const std::int64_t most = stack_.back().most;
    indices(length, length);
    const std::size_t index = stack_.size() - 1;
    if (random_.chance(0.5)) barrier();
    const auto gather = [&](Type type) {
      copy(index);
      one_segment(length);
      one_segment(length);
      apply(fmt::format("BPERMUTE {}", vcode::type_name(type)), 4, {type, length});
    };
    for (std::int64_t i = random_.between(0, 2); i > 0; --i) {
      const Type type = data_type();
      expression(type, length, 0);
      gather(type);
    }
    copy(lengths);
    gather(Type::Int);
    stack_.back().most = most;
  }

  /// Moves elements inside the segments of a descriptor, or takes one of each.
  void inside_segments(Size length) {
    segdes(length);
    const std::size_t over = stack_.size() - 1;
    const Type type = data_type();
    const std::string name(vcode::type_name(type));
    expression(type, length, 1);
    copy(over);
    add("LENGTHS");
    stack_.back() = {Type::Int, stack_[over].segments};
    copy(over);
    apply("DIST INT", 2, {Type::Int, length});
    apply("RAND", 1, {Type::Int, length});
    copy(over);
    if (random_.chance(0.5)) {
      apply("PERMUTE " + name, 3, {type, length});
    } else {
      copy(over);
      apply("BPERMUTE " + name, 4, {type, length});
    }
    pop(over);
  }

  void conditional(Size length) {
    const Type type = data_type();
    one_segment(length);
    apply("LENGTHS", 1, {Type::Int, kOne});
    integer(between(0, 2 * expected_[length]));
    add("< INT\nIF");
    stack_.resize(stack_.size() - 2);
    expression(type, length, 2);
    stack_.pop_back();
    add("ELSE");
    expression(type, length, 2);
    add("ENDIF");
  }

  /// A function that works on a value and passes two others on, until a counter is zero; some work
  /// on a part of the value each time.
  void recursion(Size length) {
    if (nesting_ > 0) return;
    const Type type = data_type();
    const std::string name = fmt::format("F{}", next_function_++);
    one_segment(length);  // unchanged
    expression(type, length, 0);
    expression(data_type(), random_.chance(0.3) ? kOne : length, 0);  // unchanged
    const bool shrinks = random_.chance(0.4);
    const Size inner = shrinks ? new_size(expected_[length] / 2) : length;
    expression(type, length, 0);
    stack_.back().length = inner;
    read(random_.between(0, static_cast<std::int64_t>(2 * kRounds)));
    const std::size_t base = std::exchange(base_, stack_.size() - 5);
    const std::string caller = std::exchange(code_, {});
    const std::vector<StackEntry> before = stack_;
    ++nesting_;
    add("COPY 1 0\nCONST INT 0\n> INT\nIF\nCONST INT 1\n- INT");
    const std::size_t value = stack_.size() - 2;
    expression(type, inner, 2);
    if (shrinks) {
      expression(Type::Bool, inner, 1);
      one_segment(inner);
      add(fmt::format("PACK {}\nPOP 1 0", vcode::type_name(type)));
      stack_.resize(stack_.size() - 2);
    }
    pop(value);
    add("CPOP 1 1");
    add("CALL " + name + "\nELSE\nENDIF");
    --nesting_;
    functions_ += "FUNC " + name + "\n" + code_ + "RET\n";
    code_ = caller;
    stack_ = before;
    base_ = base;
    add("CALL " + name);
  }

  double length_;
  std::int64_t steps_;
  Random& random_;
  std::vector<double> expected_;  // by Size
  std::vector<StackEntry> stack_;
  std::size_t base_ = 0;  // what lies below belongs to the caller
  std::vector<reference::Ints> input_;
  std::string functions_, code_;
  double work_ = 0;
  int nesting_ = 0;
  int next_function_ = 0;
  std::vector<const OpInfo*> elementwise_, scans_, reductions_, moves_;
};

}  // namespace

TestProgram generate_long(const LongOptions& options, Random& random) {
  return LongGenerator(options, random).run();
}

}  // namespace smith
