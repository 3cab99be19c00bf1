// Runs of an index that is one of several sums, by where the position is: each sum holds in some
// intervals of a segment.

#include <algorithm>
#include <limits>

#include <boost/container/static_vector.hpp>

#include "cvl-cpu/kernel_runs.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

// Elements that all have one place are runs of one element each; of more, indices are gathered.
constexpr std::int64_t kMostAlone = 16;
constexpr std::size_t kMostIntervals = 16;

/// start + step * i for the elements i of an interval.
struct Line {
  std::int64_t start = 0;
  int step = 0;
};

struct Interval {
  std::int64_t begin = 0, end = 0;
  bool is_empty() const { return begin >= end; }
};

/// The elements of [0, n) for which the numbers of the line are below 0.
Interval where_negative(const Line& line, std::int64_t n) {
  if (line.step == 0) return {0, line.start < 0 ? n : 0};
  if (line.step > 0) return {0, std::clamp<std::int64_t>(-line.start, 0, n)};
  return {std::clamp<std::int64_t>(line.start + 1, 0, n), n};
}

/// The elements of [0, n) for which left op right, of which one goes on by one more at most.
Interval where(Op op, const Line& left, const Line& right, std::int64_t n) {
  const std::int64_t more = left.start - right.start;
  const int step = left.step - right.step;
  switch (op) {
    case Op::Less:
      return where_negative({more, step}, n);
    case Op::LessEqual:
      return where_negative({more - 1, step}, n);
    case Op::Greater:
      return where_negative({-more, -step}, n);
    case Op::GreaterEqual:
      return where_negative({-more - 1, -step}, n);
    default: {
      const Interval low = where_negative({more - 1, step}, n);
      const Interval high = where_negative({-more - 1, -step}, n);
      return {std::max(low.begin, high.begin), std::min(low.end, high.end)};
    }
  }
}

class ChosenRuns {
 public:
  ChosenRuns(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
             RunTable& table)
      : cpu_(cpu), runs_(runs), first_(begin - table.bounds[0]), n_(n), table_(table) {}

  bool add() {
    if (!find_parts()) return false;
    for (std::int64_t i = 0; i < n_;) {
      const auto next = std::find_if(parts_.begin(), parts_.end(),
                                     [&](const Part& part) { return part.elements.begin == i; });
      if (!add_part(*next)) return false;
      i = next->elements.end;
    }
    return true;
  }

 private:
  struct Part {
    Interval elements;
    Line places;
  };

  bool find_parts() {
    Intervals left{{0, n_}};
    for (const BoundChoice& choice : runs_.choices) {
      const std::optional<Line> x = line(choice.left), y = line(choice.right);
      if (!x || !y) return false;
      const Interval chosen = where(choice.op, *x, *y, n_);
      Intervals others;
      for (const Interval& some : left) {
        const Interval taken{std::max(some.begin, chosen.begin), std::min(some.end, chosen.end)};
        if (taken.is_empty()) {
          others.push_back(some);
          continue;
        }
        if (!add(taken, choice.then)) return false;
        for (const Interval& rest : {Interval{some.begin, taken.begin}, {taken.end, some.end}}) {
          if (!rest.is_empty()) others.push_back(rest);
        }
      }
      left = others;
    }
    return std::all_of(left.begin(), left.end(),
                       [&](const Interval& some) { return add(some, runs_.rest); });
  }

  bool add(const Interval& elements, const BoundSum& sum) {
    const std::optional<Line> places = line(sum);
    if (places) parts_.push_back({elements, *places});
    return places.has_value();
  }

  /// Nothing where INTs might wrap around: that is left to a gather.
  std::optional<Line> line(const BoundSum& sum) {
    const std::int64_t far = cpu_.element_bytes(Type::Int) == 8
                                 ? std::int64_t{1} << 61
                                 : std::int64_t{std::numeric_limits<std::int32_t>::max()};
    Line found{sum.step * first_, sum.step};
    if (__builtin_add_overflow(found.start, sum.fixed, &found.start)) return std::nullopt;
    for (const auto& [stage, adds] : sum.others) {
      if (stage != cached_) {
        const std::optional<std::int64_t> value = stage_value(cpu_, runs_.stages[stage], table_);
        if (!value) return std::nullopt;
        cached_ = stage;
        value_ = *value;
      }
      const bool overflows = adds ? __builtin_add_overflow(found.start, value_, &found.start)
                                  : __builtin_sub_overflow(found.start, value_, &found.start);
      if (overflows) return std::nullopt;
    }
    const bool near = -far <= found.start && found.start <= far && n_ <= far &&
                      -far <= found.start + sum.step * n_ && found.start + sum.step * n_ <= far;
    return near ? std::optional(found) : std::nullopt;
  }

  bool add_part(const Part& part) {
    const auto& [elements, places] = part;
    const std::int64_t count = elements.end - elements.begin;
    const std::int64_t position = places.start + places.step * elements.begin;
    const std::int64_t last = position + places.step * (count - 1);
    if (position < 0 || last >= runs_.limit) return false;
    if (places.step == 1) {
      add_run(position, count);
      return true;
    }
    if (count > kMostAlone) return false;
    for (std::int64_t k = 0; k < count; ++k) add_run(position, 1);
    return true;
  }

  void add_run(std::int64_t position, std::int64_t elements) {
    const std::int64_t before = table_.count == 0 ? 0 : table_.ends[table_.count - 1];
    table_.positions[table_.count] = position;
    table_.ends[table_.count++] = before + elements;
  }

  using Intervals = boost::container::static_vector<Interval, kMostIntervals>;

  CpuBackend& cpu_;
  const BoundRuns& runs_;
  std::int64_t first_, n_;
  RunTable& table_;
  std::uint32_t cached_ = kNone;  // the stage that is known, …
  std::int64_t value_ = 0;        // … and its number
  boost::container::static_vector<Part, kMostIntervals> parts_;
};

}  // namespace

bool add_chosen_runs(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
                     RunTable& table) {
  return ChosenRuns(cpu, runs, begin, n, table).add();
}

}  // namespace cvl::cpu
