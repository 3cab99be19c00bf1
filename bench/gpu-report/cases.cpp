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
Vector random_below(cvl::Backend& backend, std::int64_t length, std::int64_t bound) {
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
  Value operands[2] = {random_below(backend, length, INT32_MAX), Segdes::single(length)};
  Value ranks;
  backend.execute(Op::RankUp, Type::Int, operands, &ranks);
  return ranks.vector();
}

using B = cvl::Backend;
using V = std::vector<Value>;
using N = std::int64_t;

Case make_case(std::string_view group, std::string name, double bytes, Baseline baseline, Op op,
               Type type, V (*operands)(B&, N)) {
  return {group, std::move(name), bytes, baseline, [=](B& backend, N length) {
            return make_work(backend, op, type, operands(backend, length));
          }};
}

/// The same with two sets of operands in turn, so that nothing is known from the call before.
Case make_case_in_turn(std::string_view group, std::string name, double bytes, Baseline baseline,
                       Op op, Type type, V (*operands)(B&, N)) {
  return {group, std::move(name), bytes, baseline, [=](B& backend, N length) {
            Work first = make_work(backend, op, type, operands(backend, length));
            const Work second = make_work(backend, op, type, operands(backend, length));
            first.run = [one = first.run, other = second.run, turn = false]() mutable {
              turn = !turn;
              (turn ? one : other)();
            };
            return first;
          }};
}

Vector constant(B& b, N n, N number) {
  Value operands[2] = {cvl::make_int(b.widths(), number), Segdes::single(n)};
  Value result;
  b.execute(Op::Distribute, Type::Int, operands, &result);
  return result.vector();
}

/// A permutation of which the library does not know that it is one.
Vector unknown_permutation(B& b, N n) {
  Value operands[2] = {permutation(b, n), constant(b, n, 0)};
  Value result;
  b.execute(Op::Add, Type::Int, operands, &result);
  return result.vector();
}

Vector random_flags(B& b, N n) {
  return converted(b, Op::IntToBool, random_below(b, n, 2));
}

/// Segments of 0 to 31 elements, about n in all.
Segdes short_segments(B& b, N n) {
  return cvl::make_segdes(b, random_below(b, n / 16, 32));
}

constexpr std::string_view kElementwise = "Elementwise operations";
constexpr std::string_view kFolds = "Scans and reductions";
constexpr std::string_view kMoves = "Moving operations";
constexpr std::string_view kSegments = "Segments of 16 on average";
constexpr std::string_view kOrder = "Order and choice";

}  // namespace

const std::vector<Case>& flat_cases() {
  static const std::vector<Case> cases = {
      make_case(kElementwise, "+ INT", 12, Baseline::Add, Op::Add, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), random_ints(b, n)};
                }),
      make_case(kElementwise, "+ INT, one constant", 8, Baseline::AddConstant, Op::Add, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), constant(b, n, 3)};
                }),
      make_case(kElementwise, "+ FLOAT", 24, Baseline::AddFloat, Op::Add, Type::Float,
                [](B& b, N n) {
                  return V{random_floats(b, n), random_floats(b, n)};
                }),
      make_case(kElementwise, "< INT", 9, Baseline::Less, Op::Less, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), random_ints(b, n)};
                }),
      make_case(kElementwise, "EXP", 16, Baseline::Exp, Op::Exp, Type::Int,
                [](B& b, N n) { return V{random_floats(b, n)}; }),
      make_case(kElementwise, "RAND", 4, Baseline::Random, Op::Rand, Type::Int,
                [](B& b, N n) { return V{constant(b, n, 100)}; }),
      make_case(kFolds, "+_REDUCE INT", 4, Baseline::Reduce, Op::AddReduce, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), Segdes::single(n)};
                }),
      make_case(kFolds, "+_REDUCE FLOAT", 8, Baseline::ReduceFloat, Op::AddReduce, Type::Float,
                [](B& b, N n) {
                  return V{random_floats(b, n), Segdes::single(n)};
                }),
      make_case(kFolds, "+_SCAN INT", 8, Baseline::Scan, Op::AddScan, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), Segdes::single(n)};
                }),
      make_case(kFolds, "+_SCAN FLOAT", 16, Baseline::ScanFloat, Op::AddScan, Type::Float,
                [](B& b, N n) {
                  return V{random_floats(b, n), Segdes::single(n)};
                }),
      make_case(kMoves, "PERMUTE INT, by ranks", 12, Baseline::Scatter, Op::Permute, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), permutation(b, n), Segdes::single(n)};
                }),
      make_case_in_turn(kMoves, "PERMUTE INT, new index", 12, Baseline::Scatter, Op::Permute,
                        Type::Int,
                        [](B& b, N n) {
                          return V{random_ints(b, n), unknown_permutation(b, n), Segdes::single(n)};
                        }),
      make_case(kMoves, "PERMUTE INT, same index", 12, Baseline::Scatter, Op::Permute, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), unknown_permutation(b, n), Segdes::single(n)};
                }),
      make_case(kMoves, "BPERMUTE INT, in order", 12, Baseline::GatherInOrder, Op::BPermute,
                Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), iota(b, n), Segdes::single(n), Segdes::single(n)};
                }),
      make_case(
          kMoves, "BPERMUTE INT, random", 12, Baseline::Gather, Op::BPermute, Type::Int,
          [](B& b, N n) {
            return V{random_ints(b, n), permutation(b, n), Segdes::single(n), Segdes::single(n)};
          }),
      make_case(kSegments, "DIST INT", 4.75, Baseline::None, Op::Distribute, Type::Int,
                [](B& b, N n) {
                  const Segdes segdes = short_segments(b, n);
                  return V{random_ints(b, segdes.count), segdes};
                }),
      make_case(kSegments, "INDEX", 5, Baseline::None, Op::Index, Type::Int,
                [](B& b, N n) {
                  const Segdes segdes = short_segments(b, n);
                  return V{random_ints(b, segdes.count), random_below(b, segdes.count, 9), segdes};
                }),
      make_case(
          kSegments, "EXTRACT INT", 1.25, Baseline::None, Op::Extract, Type::Int,
          [](B& b, N n) {
            return V{random_ints(b, n), random_below(b, n / 16, 16), Segdes::regular(n / 16, 16)};
          }),
      make_case(kSegments, "REPLACE INT, copied", 8.75, Baseline::None, Op::Replace, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), random_below(b, n / 16, 16),
                           random_below(b, n / 16, 9), Segdes::regular(n / 16, 16)};
                }),
      make_case(kSegments, "MAKE_SEGDES", 0.75, Baseline::None, Op::MakeSegdes, Type::Int,
                [](B& b, N n) { return V{random_below(b, n / 16, 32)}; }),
      make_case(kOrder, "PACK INT, half", 7, Baseline::Select, Op::Pack, Type::Int,
                [](B& b, N n) {
                  return V{random_ints(b, n), random_flags(b, n), Segdes::single(n)};
                }),
      make_case(kOrder, "PACK FLOAT, half", 13, Baseline::SelectFloat, Op::Pack, Type::Float,
                [](B& b, N n) {
                  return V{random_floats(b, n), random_flags(b, n), Segdes::single(n)};
                }),
      make_case(kOrder, "RANK_UP INT", 76, Baseline::Sort, Op::RankUp, Type::Int,
                [](B& b, N n) {
                  return V{random_below(b, n, INT32_MAX), Segdes::single(n)};
                }),
      make_case(kOrder, "RANK_UP FLOAT", 208, Baseline::SortFloat, Op::RankUp, Type::Float,
                [](B& b, N n) {
                  return V{converted(b, Op::IntToFloat, random_below(b, n, INT32_MAX)),
                           Segdes::single(n)};
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

Segdes make_segments(cvl::Backend& backend, const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> narrow(lengths.begin(), lengths.end());
  return cvl::make_segdes(
      backend, backend.upload(Type::Int, narrow.data(), static_cast<std::int64_t>(narrow.size())));
}

// Work runs on copies of the operands, so that nothing is overwritten.

Work make_work(cvl::Backend& backend, Op op, Type type, std::vector<Value> operands) {
  return {[&backend, op, type, operands] {
            std::vector<Value> copies = operands;
            Value results[vcode::kMaxResults];
            backend.execute(op, type, copies.data(), results);
          },
          operands};
}

Vector random_ints(cvl::Backend& backend, std::int64_t length) {
  return random_below(backend, length, 100);
}

Vector random_floats(cvl::Backend& backend, std::int64_t length) {
  return converted(backend, Op::IntToFloat, random_ints(backend, length));
}

}  // namespace gpu_report
