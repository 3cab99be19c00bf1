#include "long_generator.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace neslc::random_test {
namespace {

enum class ValueKind { Int, Float, Ints, Floats, Flags, Nested };

/// Lengths that are equal because of how the sequences are made have the same number.
using Size = std::size_t;

struct Variable {
  std::string name;
  ValueKind kind;
  Size size = 0;  // of the outer sequence
};

const char* const kFunctions[] = {
    "function passed_on(v, s, k) = if k == 0 then s "
    "else passed_on(v, {x + rshift(y, 1) : x in s; y in v}, k - 1);",
    "function summed(v, k) = if k == 0 then 0 else sum({rem(x, k + 9) : x in v}) + summed(v, k - "
    "1);",
    "function folded(s) = if #s < 2 then s else let h = #s / 2 in "
    "folded({a - b : a in take(s, h); b in drop(s, #s - h)});",
    "function sorted(s) = if #s < 2 then s else let pivot = s[#s / 2]; "
    "parts = {sorted(part) : part in [{x in s | x < pivot}, {x in s | x > pivot}]} "
    "in parts[0] ++ {x in s | x == pivot} ++ parts[1];",
    "function chosen(s, k) = let pivot = s[#s / 2]; less = {x in s | x < pivot}; "
    "more = {x in s | x > pivot} in if k < #less then chosen(less, k) "
    "else if k < #s - #more then pivot else chosen(more, k - (#s - #more));",
    "function pull((x, m), (y, q)) = let d = y - x in m * q * d / (d * d + 0.01);",
};

class LongGenerator {
 public:
  LongGenerator(std::uint64_t seed, std::int64_t length)
      : random_(seed), length_(static_cast<double>(length)) {}

  std::vector<std::string> run() {
    first();
    for (int i = between(3, 12); i > 0; --i) statement();
    return forms();
  }

 private:
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<int>(choices.size()) - 1))];
  }

  Size new_size(double expected) {
    expected_.push_back(expected);
    return expected_.size() - 1;
  }

  std::string add(ValueKind kind, Size size, const std::string& value) {
    const std::string name = fmt::format("v{}", variables_.size());
    statements_.emplace_back(name, value);
    variables_.push_back({name, kind, size});
    return name;
  }

  std::vector<const Variable*> found(const std::function<bool(const Variable&)>& fits) const {
    std::vector<const Variable*> result;
    for (const Variable& variable : variables_) {
      if (fits(variable)) result.push_back(&variable);
    }
    return result;
  }

  /// A sequence of that kind; of any length, or of one.
  Variable sequence(ValueKind kind) {
    return *one_of(found([&](const Variable& each) {
      return each.kind == kind && (kind != ValueKind::Ints || expected_[each.size] > 20);
    }));
  }

  // ---- Programs

  /// How many elements there are, and a sequence.
  void first() {
    const auto n = static_cast<std::int64_t>(length_);
    const std::string values[] = {std::to_string(n), fmt::format("{} + rand({})", n, n / 100 + 1),
                                  fmt::format("#index({}) - {}", n + 3, between(0, 7))};
    count_ = values[between(0, 2)];
    make(new_size(length_), "n");
    make(new_size(length_), fmt::format("n - {}", between(1, 9)));
  }

  void make(Size size, const std::string& count) {
    const std::string element = one_of(std::vector<std::string>{
        fmt::format("rem(i * {}, {})", between(3, 99'999), between(100, 1'000'003)),
        fmt::format("rshift(i, {})", between(0, 8)), "n - i", "rand(1 + i)", "rem(i, 7)"});
    add(ValueKind::Ints, size, fmt::format("{{{} : i in index({})}}", element, count));
  }

  /// All at top level, or in the body of a function.
  std::vector<std::string> forms() {
    std::vector<std::string> result(std::begin(kFunctions), std::end(kFunctions));
    std::string wanted;
    for (int i = between(1, 3); i > 0; --i) {
      const std::string& name = chance(60) ? variables_.back().name : one_of(variables_).name;
      wanted = wanted.empty() ? name : fmt::format("({}, {})", name, wanted);
    }
    const int top = chance(50) ? between(0, static_cast<int>(statements_.size())) : 0;
    const bool given = top > 0 || chance(60);  // n, by a variable
    if (given) result.push_back(fmt::format("n = {};", count_));
    std::string body;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const auto& [name, value] = statements_[i];
      if (static_cast<int>(i) < top) {
        result.push_back(fmt::format("{} = {};", name, value));
      } else {
        body += fmt::format("{} {} = {}", body.empty() ? "let" : ";", name, value);
      }
    }
    const std::string whole = body.empty() ? wanted : fmt::format("{} in {}", body, wanted);
    result.push_back(fmt::format("function whole(n) = {};", whole));
    result.push_back(fmt::format("whole({});", given ? "n" : count_));
    return result;
  }

  // ---- Elements

  std::string int_of(const std::string& x, const std::string& y) {
    return fmt::format(
        fmt::runtime(one_of(std::vector<std::string>{
            "({0} + {1})", "({0} - {1})", "({0} * 3 + {1})", "max({0}, {1})", "rem({0}, 1000)",
            "(if {0} > {1} then {0} - {1} else {1})", "({0} xor {1})", "abs({0})",
            "(if oddp({0}) then {1} else {0} / 3)", "min({0}, rshift({1}, 2))", "({0} and 1023)",
            "floor(float({0}) * 0.5)", "(if {1} == 0 then 0 else rem({0}, {1}))"})),
        x, y);
  }
  std::string float_of(const std::string& x, const std::string& y) {
    return fmt::format(fmt::runtime(one_of(std::vector<std::string>{
                           "({0} + {1})", "({0} * {1})", "({0} - 1.5)", "sqrt(abs({0}))",
                           "max({0}, {1})", "({0} * {0} + 0.25 * {1})", "cos({0})"})),
                       x, y);
  }
  std::string flag_of(const std::string& x, const std::string& y) {
    return fmt::format(fmt::runtime(one_of(std::vector<std::string>{
                           "{0} > {1}", "oddp({0} + {1})", "rem({0}, 3) == 0", "{0} /= {1}"})),
                       x, y);
  }

  // ---- Statements

  void statement() {
    const std::vector<void (LongGenerator::*)()> kinds{
        &LongGenerator::each,      &LongGenerator::each,      &LongGenerator::each,
        &LongGenerator::whole,     &LongGenerator::whole,     &LongGenerator::scalar,
        &LongGenerator::floats,    &LongGenerator::filter,    &LongGenerator::gather,
        &LongGenerator::nested,    &LongGenerator::nested,    &LongGenerator::of_nested,
        &LongGenerator::pairs,     &LongGenerator::recursive, &LongGenerator::write,
        &LongGenerator::of_nested, &LongGenerator::neighbours};
    (this->*one_of(kinds))();
  }

  /// Two sequences of the same length, maybe the same.
  std::pair<Variable, Variable> two(ValueKind kind) {
    const Variable a = sequence(kind);
    const Variable b = *one_of(
        found([&](const Variable& each) { return each.kind == kind && each.size == a.size; }));
    return {a, b};
  }

  void each() {
    const auto [a, b] = two(ValueKind::Ints);
    const std::string inner = chance(40) ? int_of("x", "y") : "x";
    const std::string number = chance(20) ? fmt::format("#{}", a.name) : "y";
    add(ValueKind::Ints, a.size,
        fmt::format("{{{} : x in {}; y in {}}}", int_of(inner, number), a.name, b.name));
  }

  void filter() {
    const auto [a, b] = two(ValueKind::Ints);
    add(ValueKind::Ints, new_size(expected_[a.size] / 2),
        fmt::format("{{{} : x in {}; y in {} | {}}}", int_of("x", "y"), a.name, b.name,
                    flag_of("x", "y")));
  }

  void whole() {
    const Variable a = sequence(ValueKind::Ints);
    const bool sorts = expected_[a.size] < 2e6;
    const std::string same = one_of(std::vector<std::string>{
        "plus_scan({0})", "max_scan({0})", "reverse({0})", "rotate({0}, 5)", "min_scan({0})",
        "next({0}, 7)", "{{x - y : x in {0}; y in previous({0}, 0)}}", sorts ? "rank({0})" : "{0}",
        sorts ? "permute({0}, rank({0}))" : "{0}"});
    const std::string other = one_of(std::vector<std::string>{
        "{0} ++ reverse({0})", "take({0}, #{0} / 3)", "drop({0}, #{0} / 2)", "even_elts({0})",
        "cons(3, {0})", "flatten(bottop({0}))", "pack_index({{oddp(x) : x in {0}}})"});
    const bool doubles = expected_[a.size] > 2 * length_;
    const bool keeps = chance(60) || doubles;
    add(ValueKind::Ints, keeps ? a.size : new_size(expected_[a.size]),
        fmt::format(fmt::runtime(keeps ? same : other), a.name));
  }

  void scalar() {
    const Variable a = sequence(ValueKind::Ints);
    const std::string name =
        add(ValueKind::Int, 0,
            fmt::format(fmt::runtime(one_of(std::vector<std::string>{
                            "sum({0})", "max_val({0})", "{0}[0]", "{0}[#{0} - 1]", "#{0}",
                            "count({{x > 5 : x in {0}}})", "max_index({0})", "summed({0}, 3)"})),
                        a.name));
    if (chance(60)) {
      add(ValueKind::Ints, a.size, fmt::format("{{{} : x in {}}}", int_of("x", name), a.name));
    }
  }

  void floats() {
    const auto present = found([](const Variable& each) { return each.kind == ValueKind::Floats; });
    if (present.empty() || chance(40)) {
      const Variable a = sequence(ValueKind::Ints);
      add(ValueKind::Floats, a.size, fmt::format("{{float(x) * 0.001 : x in {}}}", a.name));
      return;
    }
    const auto [a, b] = two(ValueKind::Floats);
    if (chance(70)) {
      add(ValueKind::Floats, a.size,
          fmt::format("{{{} : x in {}; y in {}}}", float_of(float_of("x", "y"), "y"), a.name,
                      b.name));
    } else {
      add(ValueKind::Float, 0, fmt::format("sum({{{} : x in {}}})", float_of("x", "x"), a.name));
    }
  }

  void gather() {
    const Variable a = sequence(ValueKind::Ints), b = sequence(ValueKind::Ints);
    const std::string index = fmt::format("{{mod(x, #{}) : x in {}}}", a.name, b.name);
    if (chance(50)) {
      add(ValueKind::Ints, b.size, fmt::format("{} -> {}", a.name, index));
    } else if (chance(50)) {
      add(ValueKind::Ints, b.size,
          fmt::format("{{{}[mod(x, #{})] : x in {}}}", a.name, a.name, b.name));
    } else {
      add(ValueKind::Ints, a.size,
          fmt::format("{} <- {{(i, x) : i in {}; x in {}}}", a.name, index, b.name));
    }
  }

  /// Of each element and some around it.
  void neighbours() {
    const bool reals = chance(40);
    const auto present = found([](const Variable& each) { return each.kind == ValueKind::Floats; });
    const ValueKind kind = reals && !present.empty() ? ValueKind::Floats : ValueKind::Ints;
    const Variable a = sequence(kind);
    const std::string place = one_of(std::vector<std::string>{
        "max(0, min(#{0} - 1, i + k))", "mod(i + k, #{0})", "abs(rem(i - k, #{0}))"});
    const std::string part =
        fmt::format("{}[{}]", a.name, fmt::format(fmt::runtime(place), a.name));
    const std::string value = kind == ValueKind::Ints
                                  ? int_of(fmt::format("rem({}, 10000)", part), "k")
                                  : float_of(part, "float(k)");
    const std::string around = one_of(std::vector<std::string>{
        "[-1:2]", "[0:5]", "[0, 3, -2]", "index(4)", "[-6:7]", "[0:9:4]", "[0:20]"});
    const std::string reduction = one_of(std::vector<std::string>{"sum", "max_val", "min_val"});
    add(kind, a.size,
        fmt::format("{{{}({{{} : k in {}}}) : i in index(#{})}}", reduction, value, around,
                    a.name));
  }

  /// Sequences of about `length_` elements together.
  void nested() {
    const Variable a = sequence(ValueKind::Ints);
    const double size = expected_[a.size];
    switch (between(0, 3)) {
      case 0:
        if (size > 2 * length_) return;
        add(ValueKind::Nested, a.size,
            fmt::format("{{{{{} : i in index(mod(x, 4))}} : x in {}}}", int_of("x", "i"), a.name));
        break;
      case 1: {  // a few long ones
        const int count = between(1, 40);
        const auto inner = static_cast<std::int64_t>(length_) / count;
        add(ValueKind::Nested, new_size(count),
            fmt::format("{{index({} * (1 + i / 20)) : i in index({})}}", inner, count));
        break;
      }
      case 2:
        add(ValueKind::Nested, new_size(2), fmt::format("bottop({})", a.name));
        break;
      default:
        add(ValueKind::Nested, new_size(size / 3),
            fmt::format("(let s = {0}; l = length_from_flags({{oddp(x) and oddp(i) : x in s; "
                        "i in index(#s)}}) in partition(s, l))",
                        a.name));
        break;
    }
  }

  void of_nested() {
    const auto present = found([](const Variable& each) { return each.kind == ValueKind::Nested; });
    if (present.empty()) return nested();
    const Variable a = *one_of(present);
    const std::string each = one_of(std::vector<std::string>{
        "sum({{x * 3 : x in s}})", "#s", "sum(s) - #s", "count({{x > 10 : x in s}})",
        "sum({{x + j : x in s; j in index(#s)}})", "(if #s == 0 then 0 else max_val(s))"});
    switch (between(0, 3)) {
      case 0:
        add(ValueKind::Ints, new_size(length_), fmt::format("flatten({})", a.name));
        break;
      case 1:
        add(ValueKind::Nested, a.size,
            fmt::format("{{(let total = sum(s) in {{{} : x in s}}) : s in {}}}",
                        int_of("x", "total"), a.name));
        break;
      case 2:
        add(ValueKind::Nested, a.size,
            fmt::format("{{{{{} : x in s | x > 3}} : s in {}}}", int_of("x", "#s"), a.name));
        break;
      default:
        add(ValueKind::Ints, a.size,
            fmt::format(fmt::runtime("{{" + each + " : s in {0}}}"), a.name));
        break;
    }
  }

  /// Every element with every other, of as many as have `length_` pairs.
  void pairs() {
    const auto count = static_cast<std::int64_t>(std::sqrt(length_));
    const Variable a = sequence(ValueKind::Ints);
    const Size size = new_size(static_cast<double>(count));
    const std::string few =
        add(ValueKind::Ints, size, fmt::format("take({0}, min({1}, #{0}))", a.name, count));
    switch (between(0, 3)) {
      case 0:
        add(ValueKind::Ints, size,
            fmt::format("{{sum({{{} : x in {}}}) : y in {}}}", int_of("x", "y"), few, few));
        break;
      case 1:
        add(ValueKind::Int, 0,
            fmt::format("sum({{sum({{{} : x in index({})}}) : y in {}}})", int_of("x", "y"),
                        count + between(-2, 2), few));
        break;
      case 2:
        add(ValueKind::Nested, size,
            fmt::format("{{{{{} : x in {}}} : y in {}}}", int_of("x", "y"), few, few));
        break;
      default:
        add(ValueKind::Floats, size,
            fmt::format("(let b = {{(float(x), 1.0) : x in {}}} in "
                        "{{sum({{pull(p, q) : q in b}}) : p in b}})",
                        few));
        break;
    }
  }

  void recursive() {
    const auto [a, b] = two(ValueKind::Ints);
    const double size = expected_[a.size];
    const std::int64_t choice = between(0, size < 3e5 ? 4 : 3);
    if (choice == 0) {
      add(ValueKind::Ints, a.size,
          fmt::format("passed_on({}, {}, {})", a.name, b.name, between(0, 5)));
    } else if (choice == 1) {
      add(ValueKind::Int, 0, fmt::format("summed({}, {})", a.name, between(0, 6)));
    } else if (choice == 2) {
      add(ValueKind::Ints, new_size(1), fmt::format("folded({})", a.name));
    } else if (choice == 3) {
      add(ValueKind::Int, 0, fmt::format("chosen({0}, #{0} / 3)", a.name));
    } else {
      add(ValueKind::Ints, a.size, fmt::format("sorted({})", a.name));
    }
  }

  void write() {
    const auto [a, b] = two(ValueKind::Ints);
    add(ValueKind::Ints, a.size,
        fmt::format("(let s = {0} in if #s == 0 then s else rep(s, {1}, #s / 2))", a.name,
                    between(-9, 9)));
  }

  std::mt19937_64 random_;
  double length_;
  std::string count_;
  std::vector<double> expected_;  // by Size
  std::vector<Variable> variables_;
  std::vector<std::pair<std::string, std::string>> statements_;
};

}  // namespace

std::vector<std::string> long_program(std::uint64_t seed, std::int64_t length) {
  return LongGenerator(seed, length).run();
}

}  // namespace neslc::random_test
