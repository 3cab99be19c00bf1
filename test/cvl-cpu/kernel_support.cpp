#include "cvl-cpu/kernel_support.hpp"

#include <cstring>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

#include "sanitized.hpp"
#include "tuned.hpp"

namespace kernel_test {

CpuOptions options(cvl::Widths widths, int threads, Isa isa) {
  CpuOptions result;
  result.widths = widths;
  result.threads = threads;
  result.isa = isa;
  return result;
}

Vector upload(CpuBackend& cpu, Type type, const Numbers& numbers) {
  const auto as = [&](auto sample) {
    std::vector<decltype(sample)> elements;
    for (const double number : numbers) elements.push_back(static_cast<decltype(sample)>(number));
    return cpu.upload(type, elements.data(), static_cast<std::int64_t>(elements.size()));
  };
  const cvl::Widths widths = cpu.widths();
  if (type == Type::Bool) {
    std::vector<std::uint8_t> flags;
    for (const double number : numbers) flags.push_back(static_cast<int>(number) != 0 ? 1 : 0);
    return cpu.upload(type, flags.data(), static_cast<std::int64_t>(flags.size()));
  }
  if (type == Type::Int) return widths.int_bytes == 4 ? as(std::int32_t{}) : as(std::int64_t{});
  return widths.float_bytes == 4 ? as(float{}) : as(double{});
}

std::string bits(CpuBackend& cpu, const Vector& vector) {
  std::string result(static_cast<std::size_t>(vector.length) * cpu.element_bytes(vector.type), ' ');
  cpu.download(vector, 0, vector.length, result.data());
  return result;
}

std::string bits(CpuBackend& cpu, const Value& value) {
  if (value.is_vector()) return bits(cpu, value.vector());
  return bits(cpu, cvl::segdes_lengths(cpu, value.segdes())) + "/" +
         std::to_string(value.segdes().total);
}

Segdes descriptor(CpuBackend& cpu, const Lengths& lengths) {
  return cvl::make_segdes(cpu, upload(cpu, Type::Int, {lengths.begin(), lengths.end()}));
}

Numbers numbers(std::int64_t n, unsigned seed, double scale) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(n));
  Numbers result(static_cast<std::size_t>(n));
  for (double& number : result) {
    number = (static_cast<double>(random() % 2'000'003) / 1'000'000.7 - 1.0) * scale;
  }
  return result;
}

Value execute(CpuBackend& cpu, Op op, Type type, std::vector<Value> operands, int which) {
  Value results[vcode::kMaxResults];
  cpu.execute(op, type, operands.data(), results);
  return results[which];
}

std::vector<Value> run(CpuBackend& cpu, const vcode::Kernel& kernel, std::vector<Value> operands) {
  const auto prepared = cpu.prepare(kernel);
  REQUIRE(prepared != nullptr);
  std::vector<Value> results(kernel.outputs.size());
  REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
  return results;
}

namespace {

CpuOptions by_steps(CpuOptions options) {
  options.native = false;
  return options;
}

}  // namespace

Pair::Pair(cvl::Widths widths, cvl::cpu::Isa isa)
    : code(options(widths, 2, isa)), steps(by_steps(options(widths, 2, isa))) {}

void for_pairs(const std::function<void(Pair&)>& test, const std::string& setting) {
  const tuned::Scope scope(tuned::from_environment() + "," + setting);
  std::vector<cvl::cpu::Isa> isas = cvl::cpu::usable_isas();
  std::vector<cvl::Widths> all = {{4, 8}, {8, 4}, {4, 4}, {8, 8}};
  if (testing::kSanitized) {  // which see nothing of what machine code does
    isas = {isas.back()};
    all.resize(2);
  }
  for (const cvl::cpu::Isa isa : isas) {
    for (const cvl::Widths widths : all) {
      CAPTURE(setting, cvl::cpu::isa_name(isa), int{widths.int_bytes}, int{widths.float_bytes});
      Pair pair(widths, isa);
      test(pair);
    }
  }
}

void for_backends(const std::function<void(CpuBackend&)>& test) {
  const auto isas = cvl::cpu::usable_isas();
  const auto tuned = [&](const char* setting, const cvl::Widths& widths) {
    CAPTURE(setting);
    const tuned::Scope scope(setting);
    CpuBackend cpu(options(widths, 3, isas.back()));
    test(cpu);
  };
  if (testing::kSanitized) {
    CpuBackend usual(options({4, 8}, 2, isas.back()));
    test(usual);
    tuned("smallest", {8, 4});
    return;
  }
  const bool is_stressed = tuned::from_environment() != "usual";  // and needs no more of it
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 4}}) {
    for (const int threads : {1, 2, 4}) {
      CpuBackend cpu(options(widths, threads, isas.back()));
      test(cpu);
    }
    if (is_stressed) continue;
    for (const Isa isa : isas) {
      if (isa == isas.back()) continue;
      CpuBackend cpu(options(widths, 2, isa));
      test(cpu);
    }
    for (const char* setting : {"smallest", "odd", "short_runs=0"}) tuned(setting, widths);
  }
}

std::vector<Lengths> shapes() {
  std::vector<Lengths> result = {{0}, {0, 0, 0}, {1}, {5}, {3, 0, 4}, {64}, {65}, {0, 63, 0, 2}};
  result.push_back({1000});
  result.push_back({16384});
  result.push_back({16385, 0});
  result.push_back({32768, 1});
  result.push_back({40000, 0, 30000, 1, 0});
  result.push_back({200'001});
  result.push_back(Lengths(9000, 7));
  Lengths mixed;
  std::mt19937_64 random(7);
  for (int k = 0; k < 20'000; ++k) mixed.push_back(static_cast<std::int64_t>(random() % 9));
  result.push_back(mixed);
  return result;
}

std::int64_t total(const Lengths& lengths) {
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) sum += length;
  return sum;
}

vcode::ErrorCode failure_of(CpuBackend& cpu, const vcode::Kernel& kernel,
                            std::vector<Value> operands, std::string* message) {
  const auto prepared = cpu.prepare(kernel);
  std::vector<Value> results(kernel.outputs.size());
  try {
    cpu.run(*prepared, operands.data(), results.data());
  } catch (const cvl::Failure& failure) {
    if (message != nullptr) {
      *message = failure.message();
      for (const auto& note : failure.notes()) *message += "\n" + note;
    }
    return failure.code();
  }
  FAIL("the kernel did not fail");
  return vcode::ErrorCode::Internal;
}

Expressions::Id counting(Expressions& t, ArrayId first, SegdesId under) {
  const auto own = t.at(first, t.seg_no(under, t.index()));
  return t.apply(Op::Add, Type::Int, {own, t.seg_off(under, t.index())});
}

Expressions::Id bounded(Expressions& t, Expressions::Id offset, Expressions::Id limit,
                        Expressions::Id place) {
  const auto inside = t.apply(Op::And, Type::Bool,
                              {t.apply(Op::GreaterEqual, Type::Int, {offset, t.number(0)}),
                               t.apply(Op::Less, Type::Int, {offset, limit})});
  return t.apply(Op::Select, Type::Int, {inside, place, t.number(-1)});
}

Numbers mixed_starts(const Lengths& lengths) {
  Numbers starts(lengths.size());
  double next = 0;
  for (const std::size_t parity : {1, 0}) {
    for (std::size_t k = parity; k < lengths.size(); k += 2) {
      starts[k] = next;
      next += static_cast<double>(lengths[k]);
    }
  }
  return starts;
}

Numbers ascending_starts(const Lengths& lengths) {
  Numbers starts;
  double next = 0;
  for (const std::int64_t length : lengths) {
    starts.push_back(next);
    next += static_cast<double>(length);
  }
  return starts;
}

}  // namespace kernel_test
