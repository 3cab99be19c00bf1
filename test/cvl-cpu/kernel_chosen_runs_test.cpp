// Gathers whose index is one of several sums, by where the position is: places in a ring, places
// that stop at a border, and whatever else conditionals make of positions.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "vcode/comparisons.hpp"

namespace kernel_test {
namespace {

using Node = Expressions::Id;

/// Numbers of the kernel below, each a vector of one element.
struct Parameters {
  std::int64_t left, right;  // the first condition: position + left op right
  std::int64_t then, fixed;  // where it holds: position + then; or where another one does, fixed
  std::int64_t last;         // that other one: position = last
  std::int64_t rest;         // else: position + rest
};

/// s segments of n elements; of each element that of `from` at first[own segment] and what the
/// conditions say.
struct Chosen {
  KernelBuilder b;
  Op op;

  explicit Chosen(Op order) : op(order) {
    const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m"), one = b.literal(1);
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s);
    const ArrayId from = b.in("from", Type::Int, m);
    std::vector<ArrayId> numbers;
    for (const char* name : {"left", "right", "then", "fixed", "last", "rest"}) {
      numbers.push_back(b.in(name, Type::Int, one));
    }
    auto t = b.thunk();
    const Node offset = t.seg_off(d, t.index());
    const auto number = [&](int k) { return t.at(numbers[k], t.number(0)); };
    const auto and_offset = [&](int k) { return t.apply(Op::Add, Type::Int, {number(k), offset}); };
    const Node is_last = t.apply(Op::Equal, Type::Int, {offset, number(4)});
    const Node other = t.apply(Op::Select, Type::Int, {is_last, number(3), and_offset(5)});
    const Node condition = t.apply(op, Type::Int, {and_offset(0), number(1)});
    const Node place = t.apply(Op::Select, Type::Int, {condition, and_offset(2), other});
    const Node start = t.at(first, t.seg_no(d, t.index()));
    b.out(b.map("taken", b.under(d), Type::Int,
                t.give({t.at(from, t.apply(Op::Add, Type::Int, {start, place}))})));
  }

  void check(CpuBackend& cpu, const Lengths& lengths, const Parameters& p) const {
    CAPTURE(op, lengths.size(), p.left, p.right, p.then, p.fixed, p.last, p.rest);
    const bool wide = cpu.element_bytes(Type::Int) == 8;
    const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
    const Numbers from = numbers(longest + 2 * kRoom, 31, 1000);
    Numbers first, taken;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      first.push_back(static_cast<double>(kRoom + static_cast<std::int64_t>(s % 7)));
      for (std::int64_t k = 0; k < lengths[s]; ++k) {
        const auto sum = static_cast<std::uint64_t>(k) + static_cast<std::uint64_t>(p.left);
        const std::int64_t x =
            wide ? static_cast<std::int64_t>(sum) : static_cast<std::int32_t>(sum);
        const std::int64_t place = vcode::holds(op, x, p.right) ? k + p.then
                                   : k == p.last                ? p.fixed
                                                                : k + p.rest;
        taken.push_back(from[static_cast<std::size_t>(first[s]) + static_cast<std::size_t>(place)]);
      }
    }
    std::vector<Value> operands = {descriptor(cpu, lengths), upload(cpu, Type::Int, first),
                                   upload(cpu, Type::Int, from)};
    for (const std::int64_t number : {p.left, p.right, p.then, p.fixed, p.last, p.rest}) {
      operands.emplace_back(upload(cpu, Type::Int, {static_cast<double>(number)}));
    }
    const auto results = run(cpu, b.kernel, std::move(operands));
    REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, taken)));
  }

  static constexpr std::int64_t kRoom = 20;  // in `from` in front of all that is read, and behind
};

}  // namespace

TEST_CASE("what is fetched from one of several places by where the position is") {
  const Op op = GENERATE(Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual, Op::Equal);
  const Chosen chosen(op);
  for_backends([&](CpuBackend& cpu) {
    std::vector<Lengths> all = shapes();
    all.push_back({700});
    all.push_back({3, 0, 40, 41, 39, 1200, 2, 600});
    for (const Lengths& lengths : all) {
      if (lengths.empty()) continue;
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      // At the first element, behind it, in the middle, at the last one, nowhere and everywhere.
      for (const std::int64_t border : {std::int64_t{0}, std::int64_t{1}, longest / 2, longest - 1,
                                        std::int64_t{-5}, longest + 5}) {
        chosen.check(cpu, lengths, {-1, border - 1, 3, -2, border + 1, -1});
        chosen.check(cpu, lengths, {2, border + 2, -4, 7, 0, 2});
      }
      // What is compared wraps around in 32 bits.
      chosen.check(cpu, lengths, {2'147'483'640, 2'147'483'646, 1, 0, 2, -3});
      chosen.check(cpu, lengths, {2'147'483'640, -2'147'483'646, 1, 0, 2, -3});
    }
  });
}

TEST_CASE("a place outside is found among those that are chosen") {
  const Chosen chosen(Op::GreaterEqual);
  for_backends([&](CpuBackend& cpu) {
    const Lengths lengths = {40, 700, 0, 41};
    const auto fails = [&](const Parameters& p) {
      std::vector<Value> operands = {descriptor(cpu, lengths),
                                     upload(cpu, Type::Int, {100, 100, 100, 100}),
                                     upload(cpu, Type::Int, numbers(900, 31, 1000))};
      for (const std::int64_t number : {p.left, p.right, p.then, p.fixed, p.last, p.rest}) {
        operands.emplace_back(upload(cpu, Type::Int, {static_cast<double>(number)}));
      }
      std::string message;
      failure_of(cpu, chosen.b.kernel, std::move(operands), &message);
      return message;
    };
    CHECK(fails({0, 699, 101, 0, -1, 0}).find("index 900") != std::string::npos);
    CHECK(fails({0, 5000, 0, -101, 3, 0}).find("index -1") != std::string::npos);
    CHECK(fails({0, 5000, 0, 800, 0, 0}).find("index 900") != std::string::npos);
    CHECK(fails({0, 5000, 0, 0, -1, 101}).find("index 900") != std::string::npos);
    CHECK(fails({0, 5000, 0, 0, -1, -101}).find("index -1") != std::string::npos);
  });
}

TEST_CASE("places in a ring, from where rows begin that are a ring themselves") {
  // Of each element the next one in a ring: of the own segment, and from where the next one begins,
  // and that so many segments behind, which has to be there.
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s);
  const ArrayId from = b.in("from", Type::Int, m);
  const ArrayId behind = b.in("behind", Type::Int, b.literal(1));
  auto t = b.thunk();
  const Node row = t.seg_no(d, t.index()), one = t.number(1);
  const auto in_ring = [&](Node place, Node length) {
    const Node next = t.apply(Op::Add, Type::Int, {place, one});
    return t.apply(Op::Select, Type::Int,
                   {t.apply(Op::GreaterEqual, Type::Int, {next, length}),
                    t.apply(Op::Subtract, Type::Int, {next, length}), next});
  };
  const Node place = in_ring(t.seg_off(d, t.index()), t.seg_len(d, row));
  const auto read = [&](Node begins) {
    return t.at(from, t.apply(Op::Add, Type::Int, {t.at(first, begins), place}));
  };
  const Node far = t.apply(Op::Add, Type::Int, {row, t.at(behind, t.number(0))});
  const Node sum = t.apply(Op::Add, Type::Int, {read(in_ring(row, t.size(s))), read(far)});
  b.out(b.map("sum", b.under(d), Type::Int,
              t.give({t.apply(Op::Subtract, Type::Int, {sum, read(row)})})));

  for_backends([&](CpuBackend& cpu) {
    const auto operands = [&](const Lengths& lengths, const Numbers& begins, std::int64_t shift) {
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      return std::vector<Value>{descriptor(cpu, lengths), upload(cpu, Type::Int, begins),
                                upload(cpu, Type::Int, numbers(longest + 50, 31, 1000)),
                                upload(cpu, Type::Int, {static_cast<double>(shift)})};
    };
    std::vector<Lengths> all = shapes();
    all.push_back(Lengths(200, 180));
    all.push_back({1000, 3, 0, 900, 1, 450, 700});
    for (const Lengths& lengths : all) {
      if (lengths.empty()) continue;
      const std::size_t count = lengths.size();
      Numbers begins;
      for (std::size_t k = 0; k < count; ++k) begins.push_back(static_cast<double>(5 * k % 49));
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      const Numbers data = numbers(longest + 50, 31, 1000);
      Numbers expected;
      for (std::size_t k = 0; k < count; ++k) {
        const auto length = static_cast<std::size_t>(lengths[k]);
        for (std::size_t i = 0; i < length; ++i) {
          const auto at = [&](double begin) {
            return data[static_cast<std::size_t>(begin) + (i + 1) % length];
          };
          expected.push_back(at(begins[(k + 1) % count]));
        }
      }
      CAPTURE(count, longest);
      const auto results = run(cpu, b.kernel, operands(lengths, begins, 0));
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, expected)));
    }
    // The last segment looks for one that is not there.
    std::string message;
    failure_of(cpu, b.kernel, operands(Lengths(70, 200), Numbers(70, 3), 1), &message);
    CHECK(message.find("index 70") != std::string::npos);
    failure_of(cpu, b.kernel, operands(Lengths(70, 200), Numbers(70, 3), -1), &message);
    CHECK(message.find("index -1") != std::string::npos);
  });
}

}  // namespace kernel_test
