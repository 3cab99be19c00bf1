#include "bench/gpu-report/cases.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace gpu_report {
namespace {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;

/// Random numbers from 0 up to `bound`, made on the device.
Vector random_ints(cvl::Backend& backend, std::int64_t length, std::int64_t bound) {
  Value bounds[2] = {cvl::make_int(backend.widths(), bound), Segdes::single(length)};
  Value constant, numbers;
  backend.execute(Op::Distribute, Type::Int, bounds, &constant);
  backend.execute(Op::Rand, Type::Int, &constant, &numbers);
  return numbers.vector();
}

Vector iota(cvl::Backend& backend, std::int64_t length) {
  Value operands[3] = {cvl::make_int(backend.widths(), 0), cvl::make_int(backend.widths(), 1),
                       Segdes::single(length)};
  Value range;
  backend.execute(Op::Index, Type::Int, operands, &range);
  return range.vector();
}

Vector converted(cvl::Backend& backend, Op op, const Vector& vector) {
  Value operand(vector), result;
  backend.execute(op, Type::Int, &operand, &result);
  return result.vector();
}

/// A permutation: the ranks of random numbers.
Vector permutation(cvl::Backend& backend, std::int64_t length) {
  Value operands[2] = {random_ints(backend, length, INT32_MAX), Segdes::single(length)};
  Value ranks;
  backend.execute(Op::RankUp, Type::Int, operands, &ranks);
  return ranks.vector();
}

/// Runs an operation on copies of the operands, so that nothing is overwritten.
std::function<void()> repeated(cvl::Backend& backend, Op op, Type type,
                               std::vector<Value> operands) {
  return [&backend, op, type, operands = std::move(operands)] {
    std::vector<Value> copies = operands;
    Value results[vcode::kMaxResults];
    backend.execute(op, type, copies.data(), results);
  };
}

Case make_case(std::string name, double bytes, Baseline baseline, Op op, Type type,
               std::vector<Value> (*operands)(cvl::Backend&, std::int64_t)) {
  return {std::move(name), bytes, baseline, [=](cvl::Backend& backend, std::int64_t length) {
            return repeated(backend, op, type, operands(backend, length));
          }};
}

}  // namespace

const std::vector<Case>& flat_cases() {
  using B = cvl::Backend;
  using V = std::vector<Value>;
  using N = std::int64_t;
  static const std::vector<Case> cases = {
      make_case("+ INT", 12, Baseline::Transform, Op::Add, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), random_ints(b, n, 100)};
                }),
      make_case("+ INT, one constant", 8, Baseline::None, Op::Add, Type::Int,
                [](B& b, N n) {
                  Value operands[2] = {cvl::make_int(b.widths(), 3), Segdes::single(n)};
                  Value constant;
                  b.execute(Op::Distribute, Type::Int, operands, &constant);
                  return V{random_ints(b, n, 100), constant};
                }),
      make_case("< INT", 9, Baseline::None, Op::Less, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), random_ints(b, n, 100)};
                }),
      make_case("EXP", 16, Baseline::None, Op::Exp, Type::Int,
                [](B& b, N n) { return V{converted(b, Op::IntToFloat, random_ints(b, n, 100))}; }),
      make_case("RAND", 4, Baseline::None, Op::Rand, Type::Int,
                [](B& b, N n) {
                  Value operands[2] = {cvl::make_int(b.widths(), 100), Segdes::single(n)};
                  Value constant;
                  b.execute(Op::Distribute, Type::Int, operands, &constant);
                  return V{constant};
                }),
      make_case("+_REDUCE INT", 4, Baseline::Reduce, Op::AddReduce, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), Segdes::single(n)};
                }),
      make_case("+_REDUCE FLOAT", 8, Baseline::None, Op::AddReduce, Type::Float,
                [](B& b, N n) {
                  return V{converted(b, Op::IntToFloat, random_ints(b, n, 100)), Segdes::single(n)};
                }),
      make_case("+_SCAN INT", 8, Baseline::Scan, Op::AddScan, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), Segdes::single(n)};
                }),
      make_case("+_SCAN FLOAT", 16, Baseline::None, Op::AddScan, Type::Float,
                [](B& b, N n) {
                  return V{converted(b, Op::IntToFloat, random_ints(b, n, 100)), Segdes::single(n)};
                }),
      make_case("PERMUTE INT, random", 12, Baseline::None, Op::Permute, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), permutation(b, n), Segdes::single(n)};
                }),
      make_case(
          "BPERMUTE INT, in order", 12, Baseline::None, Op::BPermute, Type::Int,
          [](B& b, N n) {
            return V{random_ints(b, n, 100), iota(b, n), Segdes::single(n), Segdes::single(n)};
          }),
      make_case("BPERMUTE INT, random", 12, Baseline::None, Op::BPermute, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100), permutation(b, n), Segdes::single(n),
                           Segdes::single(n)};
                }),
      make_case("PACK INT, half", 7, Baseline::Select, Op::Pack, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, 100),
                           converted(b, Op::IntToBool, random_ints(b, n, 2)), Segdes::single(n)};
                }),
      make_case("RANK_UP INT", 76, Baseline::Sort, Op::RankUp, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n, INT32_MAX), Segdes::single(n)};
                }),
  };
  return cases;
}

std::string_view spread_name(Spread spread) {
  switch (spread) {
    case Spread::Uniform:
      return "uniform";
    case Spread::PowerLaw:
      return "power law";
    default:
      return "one giant";
  }
}

std::vector<std::int64_t> segment_lengths(Spread spread, std::int64_t n, std::int64_t mean_length) {
  const std::int64_t count = std::max<std::int64_t>(1, n / mean_length);
  std::mt19937_64 random(static_cast<std::uint64_t>(mean_length));
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(count));
  std::int64_t left = n;
  const auto take = [&](std::int64_t length) {
    length = std::clamp<std::int64_t>(length, 0, left);
    left -= length;
    return length;
  };
  for (std::int64_t& length : lengths) {
    const double unit = std::uniform_real_distribution<double>(0, 1)(random);
    switch (spread) {
      case Spread::Uniform:
        length = take(
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * mean_length + 1)));
        break;
      case Spread::PowerLaw:  // Pareto with exponent 1.5: its mean is three times its least value
        length = take(static_cast<std::int64_t>(static_cast<double>(mean_length) / 3 *
                                                std::pow(1 - unit, -1 / 1.5)));
        break;
      default:
        length = take(static_cast<std::int64_t>(random() % 3));
    }
  }
  lengths[lengths.size() / 2] += left;  // the giant, or what rounding left
  return lengths;
}

std::function<void()> prepare_segmented(cvl::Backend& backend, vcode::Op op,
                                        const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> narrow(lengths.begin(), lengths.end());
  const Segdes segdes = cvl::make_segdes(
      backend, backend.upload(Type::Int, narrow.data(), static_cast<std::int64_t>(narrow.size())));
  return repeated(backend, op, Type::Int, {random_ints(backend, segdes.total, 100), segdes});
}

}  // namespace gpu_report
