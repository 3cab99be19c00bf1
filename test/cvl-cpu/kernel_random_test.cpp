// Random kernels against a direct evaluation of their thunks, one element after the other: values,
// and which failure comes first.

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/kernel_builder.hpp"
#include "cvl/failure.hpp"
#include "tuned.hpp"

namespace {

using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using kernel_test::Expressions;
using kernel_test::KernelBuilder;
using vcode::ArrayId;
using vcode::Binding;
using vcode::ErrorCode;
using vcode::Op;
using vcode::SegdesId;
using vcode::SizeId;
using vcode::ThunkNode;
using vcode::Type;

using Ints = std::vector<std::int32_t>;
using Random = std::mt19937_64;

std::int32_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(limit));
}

/// The vectors and lengths of a run; INT and BOOL only, in 32 bits.
struct Data {
  std::vector<Ints> arrays;  // by id; results too
  Ints lengths;              // of the only descriptor
  std::vector<std::int32_t> segment_of, starts;
};

/// What a thunk needs for one element is evaluated recursively and nothing else.
class Evaluation {
 public:
  Evaluation(const vcode::Thunk& thunk, const Data& data)
      : thunk_(thunk), data_(data), known_(thunk.nodes.size(), -1), values_(thunk.nodes.size()) {}

  std::int32_t result(std::int32_t index) {
    index_ = index;
    return value(thunk_.results[0]);
  }

 private:
  std::int32_t value(std::uint32_t number) {
    if (known_[number] != index_) {
      values_[number] = compute(number);
      known_[number] = index_;
    }
    return values_[number];
  }

  std::int32_t compute(std::uint32_t number) {
    const ThunkNode& node = thunk_.nodes[number];
    const auto arg = [&](int k) { return value(node.args[k]); };
    using Kind = ThunkNode::Kind;
    switch (node.kind) {
      case Kind::Index:
        return index_;
      case Kind::Constant:
        return static_cast<std::int32_t>(node.int_value);
      case Kind::Subscript:
        return element(data_.arrays[node.id], arg(0));
      case Kind::If:
        return arg(0) != 0 ? arg(1) : arg(2);
      case Kind::SegNo:
        return element(data_.segment_of, arg(0));
      case Kind::SegOff: {
        const std::int32_t position = arg(0);
        return position -
               data_.starts[static_cast<std::size_t>(element(data_.segment_of, position))];
      }
      case Kind::SegLen:
        return element(data_.lengths, arg(0));
      case Kind::SegStart:
        return element(data_.starts, arg(0));
      case Kind::SegCount:
        return static_cast<std::int32_t>(data_.lengths.size());
      default:
        return apply(node.op, arg(0), node.op == Op::Not ? 0 : arg(1),
                     node.op == Op::Select ? arg(2) : 0, node.type);
    }
  }

  static std::int32_t element(const Ints& vector, std::int32_t index) {
    if (index < 0 || static_cast<std::size_t>(index) >= vector.size()) {
      throw ErrorCode::IndexOutOfRange;
    }
    return vector[static_cast<std::size_t>(index)];
  }
  static std::int32_t apply(Op op, std::int32_t a, std::int32_t b, std::int32_t c, Type type) {
    const auto ua = static_cast<std::uint32_t>(a);
    const auto ub = static_cast<std::uint32_t>(b);
    switch (op) {
      case Op::Add:
        return static_cast<std::int32_t>(ua + ub);
      case Op::Subtract:
        return static_cast<std::int32_t>(ua - ub);
      case Op::Multiply:
        return static_cast<std::int32_t>(ua * ub);
      case Op::Divide:
      case Op::Modulo:
        if (b == 0) throw ErrorCode::DivisionByZero;
        if (b == -1) return op == Op::Divide ? static_cast<std::int32_t>(0 - ua) : 0;
        return op == Op::Divide ? a / b : a % b;
      case Op::Less:
        return a < b;
      case Op::Equal:
        return a == b;
      case Op::And:
        return a & b;
      case Op::Not:
        return type == Type::Bool ? !a : ~a;
      default:  // SELECT
        return a != 0 ? b : c;
    }
  }

  const vcode::Thunk& thunk_;
  const Data& data_;
  std::int32_t index_ = -1;
  Ints known_;  // the index for which a node was evaluated
  Ints values_;
};

/// Expressions that now and then fail.
class Generator {
 public:
  Generator(Random& random, Expressions expressions, std::vector<ArrayId> aligned, ArrayId table,
            ArrayId per_segment, ArrayId single, SegdesId segdes)
      : random_(random),
        e_(std::move(expressions)),
        aligned_(std::move(aligned)),
        table_(table),
        per_segment_(per_segment),
        single_(single),
        segdes_(segdes) {}

  vcode::Thunk number_thunk() { return e_.give({number(5)}); }
  vcode::Thunk flag_thunk() { return e_.give({flag(3)}); }

 private:
  using Id = Expressions::Id;

  Id number(int depth) {
    // A node that exists already is used again: guards of several uses meet.
    if (!made_.empty() && below(random_, 5) == 0) return made_[random_() % made_.size()];
    const Id id = depth == 0 ? leaf() : tree(depth - 1);
    made_.push_back(id);
    return id;
  }

  Id leaf() {
    switch (below(random_, 8)) {
      case 0:
        return e_.number(below(random_, 7) - 2);
      case 1:
        return e_.index();
      case 2:
        return e_.at(per_segment_, e_.seg_no(segdes_, e_.index()));
      case 3:
        return e_.seg_off(segdes_, e_.index());
      case 4:
        return e_.at(single_, e_.number(0));
      case 5:
        return e_.seg_start(segdes_, e_.seg_no(segdes_, e_.index()));
      default:
        return e_.own(aligned_[random_() % aligned_.size()]);
    }
  }

  Id tree(int depth) {
    switch (below(random_, 12)) {
      case 0:
        if (below(random_, 16) != 0) return guarded_division(depth);
        return e_.apply(Op::Divide, Type::Int, {number(depth), number(depth)});
      case 1:
        return e_.apply(Op::Modulo, Type::Int, {number(depth), e_.number(1 + below(random_, 9))});
      case 2:
        return e_.at(table_, safe_index(number(depth)));
      case 3:
        if (below(random_, 16) != 0) return guarded_element(depth);
        return e_.at(table_, number(depth));
      case 4:
      case 5:
        return e_.choose(flag(depth), number(depth), number(depth));
      case 6:
        return guarded_division(depth);
      case 7:
        return e_.apply(Op::Select, Type::Int, {flag(depth), number(depth), number(depth)});
      case 8:
        return e_.seg_len(segdes_, e_.seg_no(segdes_, safe_position(number(depth))));
      case 9:
        return e_.apply(Op::Multiply, Type::Int, {number(depth), number(depth)});
      case 10:
        return e_.apply(Op::Subtract, Type::Int, {number(depth), number(depth)});
      default:
        return e_.apply(Op::Add, Type::Int, {number(depth), number(depth)});
    }
  }

  /// An index below 5, the least length of the table.
  Id safe_index(Id id) {
    const Id rest = e_.apply(Op::Modulo, Type::Int, {id, e_.number(5)});
    return e_.apply(Op::Multiply, Type::Int, {rest, rest_sign(rest)});
  }
  Id rest_sign(Id rest) {
    return e_.apply(
        Op::Select, Type::Int,
        {e_.apply(Op::Less, Type::Int, {rest, e_.number(0)}), e_.number(-1), e_.number(1)});
  }
  /// The own position, now and then another one that may be out of range.
  Id safe_position(Id id) {
    return below(random_, 10) == 0
               ? id
               : e_.apply(Op::Select, Type::Int, {e_.flag(true), e_.index(), id});
  }
  Id guarded_division(int depth) {
    const Id divisor = number(depth);
    const Id dividend = number(depth);
    return e_.choose(e_.apply(Op::Equal, Type::Int, {divisor, e_.number(0)}), e_.number(-7),
                     e_.apply(Op::Divide, Type::Int, {dividend, divisor}));
  }
  Id guarded_element(int depth) {
    const Id index = number(depth);
    const Id inside = e_.apply(Op::And, Type::Bool,
                               {e_.apply(Op::Less, Type::Int, {index, e_.number(5)}),
                                e_.apply(Op::Less, Type::Int, {e_.number(-1), index})});
    return e_.choose(inside, e_.at(table_, index), number(depth));
  }
  Id flag(int depth) {
    if (depth <= 0 || below(random_, 2) == 0) {
      return e_.apply(Op::Less, Type::Int, {number(0), number(0)});
    }
    if (below(random_, 4) == 0) return e_.apply(Op::Not, Type::Bool, {flag(depth - 1)});
    return e_.apply(Op::And, Type::Bool, {flag(depth - 1), flag(depth - 1)});
  }

  Random& random_;
  Expressions e_;
  std::vector<ArrayId> aligned_;
  ArrayId table_, per_segment_, single_;
  SegdesId segdes_;
  std::vector<Id> made_;
};

struct Fault {
  ErrorCode code;
  std::int64_t position;
};

/// One random kernel with its operands.
struct Case {
  KernelBuilder b;
  Data data;
  std::int64_t length = 0;
  std::int64_t position = 0;  // where the evaluation is

  explicit Case(unsigned seed) {
    Random random(seed);
    const std::int64_t scale = std::vector<std::int64_t>{3, 40, 300, 2'000}[random() % 4];
    const std::int64_t count = below(random, 6) == 0 ? 1 : 1 + below(random, 30);
    for (std::int64_t k = 0; k < count; ++k) {
      data.starts.push_back(static_cast<std::int32_t>(length));
      data.lengths.push_back(below(random, 3) == 0 ? 0 : below(random, scale));
      length += data.lengths.back();
      data.segment_of.insert(data.segment_of.end(), static_cast<std::size_t>(data.lengths.back()),
                             static_cast<std::int32_t>(k));
    }
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const auto input = [&](const char* name, SizeId size, std::int64_t elements) {
      const ArrayId id = b.in(name, Type::Int, size);
      data.arrays.emplace_back();
      for (std::int64_t k = 0; k < elements; ++k) {
        data.arrays.back().push_back(below(random, 12) == 0 ? 0 : below(random, 40) - 5);
      }
      return id;
    };
    std::vector<ArrayId> aligned = {input("x", n, length), input("y", n, length)};
    const ArrayId table = input("table", m, 5 + below(random, 300));
    const ArrayId per_segment = input("per", s, count);
    const ArrayId single = input("one", b.literal(1), 1);
    const auto generator = [&] {
      return Generator(random, b.thunk(), aligned, table, per_segment, single, d);
    };
    const int maps = 1 + below(random, 3);
    for (int k = 0; k < maps; ++k) {
      const bool segmented = below(random, 2) == 0;
      const ArrayId id = b.map("m" + std::to_string(k), segmented ? b.under(d) : b.flat(n),
                               Type::Int, generator().number_thunk());
      aligned.push_back(id);
      if (k + 1 == maps || below(random, 3) == 0) b.out(id);
    }
    b.out(b.reduce("sums", b.under(d), Op::AddReduce, Type::Int, generator().number_thunk()));
    b.out(b.scan("scan", below(random, 2) == 0 ? b.under(d) : b.flat(n), Op::AddReduce, Type::Int,
                 generator().number_thunk()));
    Binding& check = b.bind(Binding::Kind::Assert, b.flat(n));
    check.elements = generator().flag_thunk();
    check.message = "checked";
    // Most checks hold.
    if (below(random, 16) != 0) {
      Expressions e = b.thunk();
      b.kernel.bindings.back().elements = e.give({e.flag(true)});
    }
  }

  /// Evaluates the bindings one after the other. The first failure, if there is one.
  std::optional<Fault> evaluate() {
    try {
      const std::vector<bool> read = arrays_read();
      for (const Binding& binding : b.kernel.bindings) {
        // The failure of what nobody reads may be lost.
        if (binding.arrays.empty() || read[binding.arrays[0]]) evaluate(binding);
      }
    } catch (ErrorCode code) {
      return Fault{code, position};
    }
    return std::nullopt;
  }

 private:
  std::vector<bool> arrays_read() const {
    std::vector<bool> read(b.kernel.arrays.size());
    for (const vcode::KernelParameter& output : b.kernel.outputs) read[output.id] = true;
    for (std::size_t k = b.kernel.bindings.size(); k-- > 0;) {
      const Binding& binding = b.kernel.bindings[k];
      if (!binding.arrays.empty() && !read[binding.arrays[0]]) continue;
      for (const ThunkNode& node : binding.elements.nodes) {
        if (node.kind == ThunkNode::Kind::Subscript) read[node.id] = true;
      }
    }
    return read;
  }

  void evaluate(const Binding& binding) {
    Ints values;
    Evaluation evaluation(binding.elements, data);
    for (position = 0; position < length; ++position) {
      values.push_back(evaluation.result(static_cast<std::int32_t>(position)));
      if (binding.kind == Binding::Kind::Assert && values.back() == 0) {
        throw ErrorCode::AssertionFailed;
      }
    }
    if (binding.kind == Binding::Kind::Assert) return;
    if (binding.kind == Binding::Kind::Reduce) {
      Ints sums(data.lengths.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        add(sums[static_cast<std::size_t>(data.segment_of[i])], values[i]);
      }
      values = sums;
    }
    if (binding.kind == Binding::Kind::Scan) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (binding.space.segmented && i == first_of(i)) sum = 0;
        const std::int32_t value = values[i];
        values[i] = sum;
        add(sum, value);
      }
    }
    data.arrays.resize(b.kernel.arrays.size());
    data.arrays[binding.arrays[0]] = values;
  }
  std::size_t first_of(std::size_t i) const {
    return static_cast<std::size_t>(data.starts[static_cast<std::size_t>(data.segment_of[i])]);
  }
  static void add(std::int32_t& sum, std::int32_t value) {
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                    static_cast<std::uint32_t>(value));
  }
};

Vector upload(CpuBackend& cpu, const Ints& elements) {
  return cpu.upload(Type::Int, elements.data(), static_cast<std::int64_t>(elements.size()));
}

Ints download(CpuBackend& cpu, const Vector& vector) {
  Ints result(static_cast<std::size_t>(vector.length));
  cpu.download(vector, 0, vector.length, result.data());
  return result;
}

void check(CpuBackend& cpu, Case& test, const std::vector<Ints>& inputs,
           std::optional<Fault> expected) {
  std::vector<Value> operands;
  for (const vcode::KernelParameter& input : test.b.kernel.inputs) {
    if (input.segdes) {
      operands.emplace_back(cvl::make_segdes(cpu, upload(cpu, test.data.lengths)));
    } else {
      operands.emplace_back(upload(cpu, inputs[input.id]));
    }
  }
  const auto prepared = cpu.prepare(test.b.kernel);
  REQUIRE(prepared != nullptr);
  // Twice: the second run binds what the first has left.
  for (int round = 0; round < 2; ++round) {
    std::vector<Value> given = operands;
    std::vector<Value> results(test.b.kernel.outputs.size());
    std::optional<cvl::Failure> failure;
    try {
      cpu.run(*prepared, given.data(), results.data());
    } catch (const cvl::Failure& failed) {
      failure = failed;
    }
    REQUIRE(failure.has_value() == expected.has_value());
    if (failure) {
      CAPTURE(failure->message(), failure->notes());
      REQUIRE(failure->code() == expected->code);
      const std::string place = std::to_string(expected->position) + ' ';
      const bool division = expected->code == ErrorCode::DivisionByZero;
      REQUIRE(failure->notes()[0].find((division ? "element " : "at position ") + place) !=
              std::string::npos);
      continue;
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      CAPTURE(k);
      REQUIRE(download(cpu, results[k].vector()) == test.data.arrays[test.b.kernel.outputs[k].id]);
    }
  }
}

}  // namespace

#if defined(NESL_SANITIZED)
constexpr unsigned kKernels = 250;
#else
constexpr unsigned kKernels = 1000;
#endif

TEST_CASE("random kernels do what evaluating them directly does") {
  cvl::cpu::CpuOptions options;
  options.threads = 1;
  CpuBackend one(options);
  options.threads = 3;
  options.isa = cvl::cpu::usable_isas().front();
  CpuBackend three(options);
  unsigned ran = 0, succeeded = 0;
  for (unsigned seed = 0; seed < kKernels; ++seed) {
#if defined(__SANITIZE_THREAD__)
    if (seed % 2 == 0) continue;  // one thread shares nothing
#endif
    ++ran;
    CAPTURE(seed);
    // As usual, or with numbers under which short vectors go the ways of long ones.
    const tuned::Scope scope(seed % 4 < 2 ? tuned::from_environment()
                                          : "random:" + std::to_string(seed));
    Case test(seed);
    const std::vector<Ints> inputs = test.data.arrays;
    const std::optional<Fault> expected = test.evaluate();
    check(seed % 2 == 0 ? one : three, test, inputs, expected);
    if (!expected) ++succeeded;
  }
  REQUIRE(succeeded > ran / 4);
  REQUIRE(succeeded < ran * 9 / 10);
}
