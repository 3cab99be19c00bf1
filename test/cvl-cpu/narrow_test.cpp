// Characters that take a byte each: which operations and kernels keep them so, and that nobody can
// tell from what they give. That all operations give the same for all forms is for the property
// tests and the random kernels.

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "tuned.hpp"

namespace kernel_test {
namespace {

using cvl::Form;

constexpr std::int64_t kMany = 100'000;

std::string text_of(std::int64_t length) {
  std::string text(static_cast<std::size_t>(length), ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i / 7 + i);
  return text;
}

/// The same elements in the usual form.
Vector widened(CpuBackend& cpu, const Vector& narrow) {
  return cpu.materialized(narrow);
}

/// The operation gives what it gives for the other forms; result 0 takes a byte an element.
void check_stays_narrow(CpuBackend& cpu, Op op, const std::vector<Value>& operands) {
  std::vector<Value> wide = operands;
  for (Value& operand : wide) {
    if (operand.is_vector()) operand = widened(cpu, operand.vector());
  }
  INFO(vcode::info(op).text);
  const Value result = execute(cpu, op, Type::Int, operands);
  CHECK(result.vector().form == Form::Narrow);
  CHECK(bits(cpu, result) == bits(cpu, execute(cpu, op, Type::Int, wide)));
}

Vector places(CpuBackend& cpu, std::int64_t length, std::int64_t factor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < length; ++i) {
    result.push_back(static_cast<double>(i * factor % length));
  }
  return upload(cpu, Type::Int, result);
}

Vector flags(CpuBackend& cpu, std::int64_t length) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < length; ++i) result.push_back(i % 3 == 0 || i / 1000 % 2 == 0);
  return upload(cpu, Type::Bool, result);
}

}  // namespace

TEST_CASE("long texts take a byte a character, short ones lie in place") {
  const tuned::Scope usual("usual");
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
    CpuBackend cpu(options(widths, 1, cvl::cpu::usable_isas().back()));
    const std::size_t before = cpu.heap().statistics().live_bytes;
    const Vector text = cpu.upload_characters(text_of(kMany));
    CHECK(text.form == Form::Narrow);
    CHECK(cpu.heap().statistics().live_bytes - before < kMany + kMany / 10);
    CHECK(cpu.upload_characters("a word").form != Form::Narrow);
    cvl::Ref<cvl::Buffer> room = cpu.room_for_upload(5000);
    const std::byte* const data = room->data;
    std::fill_n(room->as<char>(), 5000, 'x');
    const Vector adopted = cpu.adopt_characters(std::move(room), 4000);
    CHECK(adopted.buffer->data == data);
    CHECK(bits(cpu, adopted) == bits(cpu, cpu.upload_characters(std::string(4000, 'x'))));
  }
}

TEST_CASE("what only moves characters leaves them a byte each") {
  for_backends([&](CpuBackend& cpu) {
    const Vector text = cpu.upload_characters(text_of(kMany));
    const Segdes one = Segdes::single(kMany);
    const Segdes many = descriptor(cpu, {0, 1000, kMany - 5000, 0, 4000});
    for (const Segdes& segdes : {one, many}) {
      check_stays_narrow(cpu, Op::Pack, {text, flags(cpu, kMany), segdes});
    }
    const Vector index = places(cpu, kMany, 7);
    check_stays_narrow(cpu, Op::BPermute, {text, index, one, one});
    check_stays_narrow(cpu, Op::Permute, {text, index, one});
    check_stays_narrow(cpu, Op::BFPermute, {text, index, flags(cpu, kMany), one, one});
    check_stays_narrow(cpu, Op::FPermute, {text, index, flags(cpu, kMany), one, one});
    const Vector other = cpu.upload_characters(std::string(kMany, 'x'));
    check_stays_narrow(cpu, Op::DFPermute, {text, index, flags(cpu, kMany), other, one, one});
    const Segdes pairs = Segdes::regular(kMany, 2);
    check_stays_narrow(cpu, Op::Distribute, {text, pairs});
    const Segdes rows = Segdes::regular(kMany / 10, 10);
    const Value threes = execute(cpu, Op::Distribute, Type::Int,
                                 {upload(cpu, Type::Int, {3}), Segdes::single(kMany / 10)});
    check_stays_narrow(cpu, Op::Extract, {text, threes, rows});
  });
}

TEST_CASE("characters sent over numbers are numbers, and failures leave operands as they are") {
  const tuned::Scope usual("usual");
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  const Vector text = cpu.upload_characters(text_of(kMany));
  const Segdes one = Segdes::single(kMany);
  const Vector numbers = places(cpu, kMany, 3);
  const Value sent = execute(cpu, Op::DFPermute, Type::Int,
                             {text, places(cpu, kMany, 7), flags(cpu, kMany), numbers, one, one});
  CHECK(sent.vector().form == Form::Dense);
  std::vector<Value> operands = {text, upload(cpu, Type::Int, {kMany}), one, Segdes::single(1)};
  Value result;
  CHECK_THROWS_AS(cpu.execute(Op::BPermute, Type::Int, operands.data(), &result), cvl::Failure);
  CHECK(operands[0].vector().form == Form::Narrow);
  CHECK(bits(cpu, operands[0]) == bits(cpu, text));
}

TEST_CASE("characters are sent to places that fit a value") {
  const tuned::Scope smallest("smallest");
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  const Vector text = cpu.upload_characters(text_of(20));
  const Segdes own = Segdes::single(20), into = Segdes::single(5);
  const Value twos = execute(cpu, Op::Distribute, Type::Int, {upload(cpu, Type::Int, {2}), into});
  std::vector<double> at, none;
  for (int i = 0; i < 20; ++i) {
    at.push_back(i % 5);
    none.push_back(0);
  }
  const Value sent =
      execute(cpu, Op::DFPermute, Type::Int,
              {text, upload(cpu, Type::Int, at), upload(cpu, Type::Bool, none), twos, own, into});
  CHECK(bits(cpu, sent) == bits(cpu, twos));
}

TEST_CASE("a text with a short one in front of it takes a byte a character") {
  const tuned::Scope usual("usual");
  CpuBackend cpu(options({8, 8}, 1, cvl::cpu::usable_isas().back()));
  const Vector text = cpu.upload_characters(text_of(kMany));
  const auto index = [&](std::int64_t start, std::int64_t length) {
    return execute(
        cpu, Op::Index, Type::Int,
        {cvl::make_int({8, 8}, start), cvl::make_int({8, 8}, 1), Segdes::single(length)});
  };
  for (const bool characters : {true, false}) {
    const Vector word =
        characters ? cpu.upload_characters("word") : upload(cpu, Type::Int, {119, 111, 114, 256});
    const Segdes all = Segdes::single(kMany + 4);
    const Value zeros = execute(cpu, Op::Distribute, Type::Int, {cvl::make_int({8, 8}, 0), all});
    const Value padded =
        execute(cpu, Op::DPermute, Type::Int, {word, index(0, 4), zeros, Segdes::single(4), all});
    const Value both = execute(cpu, Op::DPermute, Type::Int,
                               {text, index(4, kMany), padded, Segdes::single(kMany), all});
    CHECK((both.vector().form == Form::Narrow) == characters);
    CHECK(bits(cpu, both) == bits(cpu, word) + bits(cpu, text));
  }
}

TEST_CASE("characters are compared with numbers of all sizes") {
  for (const Op op :
       {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual}) {
    INFO(vcode::info(op).text);
    KernelBuilder b;
    const SizeId n = b.size("n");
    const ArrayId a = b.in("a", Type::Int, n);
    const ArrayId number = b.in("number", Type::Int, b.literal(1));
    auto t = b.thunk();
    b.out(b.map("right", b.flat(n), Type::Bool,
                t.give({t.apply(op, Type::Int, {t.own(a), t.at(number, t.number(0))})})));
    auto u = b.thunk();
    b.out(b.map("left", b.flat(n), Type::Bool,
                u.give({u.apply(op, Type::Int, {u.at(number, u.number(0)), u.own(a)})})));
    CpuBackend cpu(options({8, 8}, 2, cvl::cpu::usable_isas().back()));
    const Vector text = cpu.upload_characters(text_of(kMany));
    const auto kernel = cpu.prepare(b.kernel);
    for (const double value : {-1e18, -1.0, 0.0, 1.0, 97.0, 254.0, 255.0, 256.0, 1e18}) {
      INFO(value);
      const Vector one = upload(cpu, Type::Int, {value});
      const Value every = execute(cpu, Op::Distribute, Type::Int, {one, Segdes::single(kMany)});
      std::vector<Value> operands = {text, one}, results(2);
      REQUIRE(cpu.run(*kernel, operands.data(), results.data()));
      const Vector wide = widened(cpu, text);
      CHECK(bits(cpu, results[0]) == bits(cpu, execute(cpu, op, Type::Int, {wide, every})));
      CHECK(bits(cpu, results[1]) == bits(cpu, execute(cpu, op, Type::Int, {every, wide})));
    }
  }
}

TEST_CASE("kernels that only move characters leave them a byte each") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId a = b.in("a", Type::Int, n);
  const ArrayId index = b.in("index", Type::Int, n);
  // Fetched, chosen, filtered and sent.
  auto t = b.thunk();
  b.out(b.map("fetched", b.flat(n), Type::Int, t.give({t.at(a, t.own(index))})));
  auto u = b.thunk();
  const auto blank = u.apply(Op::Equal, Type::Int, {u.own(a), u.number(32)});
  b.out(b.map("chosen", b.flat(n), Type::Int, u.give({u.choose(blank, u.number(10), u.own(a))})));
  auto v = b.thunk();
  b.out(b.map("wide", b.flat(n), Type::Int,
              v.give({v.apply(Op::Add, Type::Int, {v.own(a), v.own(a)})})));
  const SizeId kept = b.size("kept");
  const ArrayId letters = b.array("letters", Type::Int, kept);
  Binding& filter = b.bind(Binding::Kind::Filter, b.flat(n));
  filter.arrays = {letters};
  filter.segdes = {b.segdes("one", b.literal(1), kept)};
  auto g = b.thunk();
  filter.elements = g.give({g.own(a)});
  auto h = b.thunk();
  filter.flags = h.give({h.apply(Op::NotEqual, Type::Int, {h.own(a), h.number(32)})});
  b.out(letters);
  for_backends([&](CpuBackend& cpu) {
    const Vector text = cpu.upload_characters(text_of(kMany));
    const Vector at = places(cpu, kMany, 7);
    const auto results = run(cpu, b.kernel, {text, at});
    const auto expected = run(cpu, b.kernel, {widened(cpu, text), at});
    for (std::size_t k = 0; k < results.size(); ++k) {
      INFO("result " << k);
      CHECK((results[k].vector().form == Form::Narrow) == (k != 2));
      CHECK(expected[k].vector().form != Form::Narrow);
      CHECK(bits(cpu, results[k]) == bits(cpu, expected[k]));
    }
  });
}

TEST_CASE("places that comparisons of characters choose are those of numbers") {
  // Where a letter is followed by another one or by none of some, and one filter whose flags
  // somebody else reads, too.
  for (const bool shared : {false, true}) {
    KernelBuilder b;
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const ArrayId a = b.in("a", Type::Int, m);
    const ArrayId letters = b.in("letters", Type::Int, b.literal(3));
    b.in("unused", Type::Bool, n);
    const auto flags = [&](Expressions& t) {
      const auto next = t.at(a, t.apply(Op::Add, Type::Int, {t.index(), t.number(1)}));
      const auto letter = [&](int k) { return t.at(letters, t.number(k)); };
      const auto first = t.apply(Op::Equal, Type::Int, {t.own(a), letter(0)});
      const auto second = t.apply(Op::Equal, Type::Int, {letter(1), next});
      const auto third = t.apply(Op::Greater, Type::Int, {next, letter(2)});
      const auto either = t.apply(Op::Or, Type::Bool, {second, third});
      return t.apply(Op::And, Type::Bool, {first, either});
    };
    const SizeId kept = b.size("kept");
    const ArrayId places = b.array("places", Type::Int, kept);
    Binding& filter = b.bind(Binding::Kind::Filter, b.flat(n));
    filter.arrays = {places};
    filter.segdes = {b.segdes("one", b.literal(1), kept)};
    auto g = b.thunk();
    filter.elements = g.give({g.index()});
    auto h = b.thunk();
    filter.flags = h.give({flags(h)});
    b.out(places);
    if (shared) {
      auto t = b.thunk();
      b.out(b.map("flags", b.flat(n), Type::Bool, t.give({flags(t)})));
    }
    for_backends([&](CpuBackend& cpu) {
      const Vector text = cpu.upload_characters(text_of(kMany));
      const Vector wide = widened(cpu, text);
      const std::vector<double> most = {97, 98, 250};
      for (const std::vector<double>& chosen :
           {most, {97.0, 98.0, 100.0}, {300.0, 98.0, 32.0}, {97.0, -1.0, -1.0}}) {
        const Vector searched = upload(cpu, Type::Int, chosen);
        const auto run_on = [&](const Vector& characters) {
          const Vector unused = upload(cpu, Type::Bool, std::vector<double>(kMany - 1));
          return run(cpu, b.kernel, {characters, searched, unused});
        };
        const auto results = run_on(text);
        const auto expected = run_on(wide);
        for (std::size_t k = 0; k < results.size(); ++k) {
          CHECK(bits(cpu, results[k]) == bits(cpu, expected[k]));
        }
      }
    });
  }
}

}  // namespace kernel_test
