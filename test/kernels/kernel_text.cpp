#include "kernels/kernel_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kernel_test {
namespace {

using Names = std::vector<std::string>;

/// What a thunk over one space can read at its index.
struct SpaceNames {
  Names spaces;  // as which it can be written
  std::string size;
  std::string segments;     // a descriptor over it, if there is one
  std::string per_segment;  // a vector with one INT for each of its segments
  Names ints, floats, bools;
};

class KernelText {
 public:
  KernelText(property::Random& random, bool serial_loops)
      : random_(random), serial_loops_(serial_loops) {
    spaces_.push_back({{"n", "d"}, "n", "d", "p", {"a", "b"}, {"x"}, {"f"}});
    spaces_.push_back({{"m", "e"}, "m", "e", "p", {"g"}, {}, {}});
    spaces_.push_back({{"s"}, "s", "", "", {"p"}, {}, {}});
  }

  std::string run() {
    const auto bindings = random_.between(1, 6);
    for (std::int64_t k = 0; k < bindings; ++k) binding();
    std::string outputs;
    for (const std::string& output : outputs_) {
      outputs += (outputs.empty() ? "" : ",\n    ") + output;
    }
    return fmt::format(
        "FCODE 3\nKERNEL k\n"
        "IN  d : SEG s n, e : SEG s m, a : VEC INT n, b : VEC INT n, x : VEC FLOAT n,\n"
        "    f : VEC BOOL n, g : VEC INT m, p : VEC INT s, q : VEC INT 1\n"
        "OUT {}\nDO\n{}END\nFUNC MAIN RET\n",
        outputs, body_);
  }

 private:
  std::string name(const char* stem) { return fmt::format("{}{}", stem, ++names_); }
  bool chance(double probability) { return random_.chance(probability); }
  SpaceNames& pick_space() {
    return spaces_[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(spaces_.size()) - 1))];
  }

  // ---- expressions ----

  std::string integer(const SpaceNames& space, int depth) {
    if (depth == 0 || chance(0.2)) return int_leaf(space);
    const auto sub = [&] { return integer(space, depth - 1); };
    switch (random_.between(0, 11)) {
      case 0:
        return fmt::format("(B_TO_I {})", boolean(space, depth - 1));
      case 1:
        return fmt::format("(IF {} {} {})", boolean(space, depth - 1), sub(), sub());
      case 2:
        // Operands that cannot fail: of a constant condition one of them need not be evaluated.
        return fmt::format("(SELECT INT {} {} {})", boolean(space, depth - 1), int_leaf(space),
                           int_leaf(space));
      case 3:
        return fmt::format("(/ INT {} (+ INT 1 (AND INT 7 {})))", sub(), sub());
      case 4:
        return fmt::format("({} {} (OR INT 1 {}))", chance(0.5) ? "%" : "LSHIFT", sub(), sub());
      case 5:
        return gather(space, sub());
      case 6:
        return segment(space);
      case 7:
        return fmt::format("(IF (!= INT {0} 0) (/ INT {1} {0}) {1})", int_leaf(space), sub());
      case 8: {
        const std::string local = name("l");
        return fmt::format("(LET {0} {1} (- INT (* INT {0} {0}) (+ INT {0} {2})))", local, sub(),
                           sub());
      }
      default:
        return fmt::format("({} INT {} {})", random_.pick(Names{"+", "-", "*", "AND", "XOR"}),
                           sub(), sub());
    }
  }

  std::string int_leaf(const SpaceNames& space) {
    if (!space.ints.empty() && chance(0.6)) return random_.pick(space.ints) + "[i]";
    if (chance(0.4)) return "i";
    if (chance(0.2)) return space.size;
    if (chance(0.1)) return "(NSEG d)";
    return std::to_string(random_.between(-3, 12));
  }

  // A subscript that fits, or rarely one that may not.
  std::string gather(const SpaceNames& space, const std::string& index) {
    const bool same = chance(0.5) && space.size != "s";
    const std::string vector = same ? (space.size == "n" ? "b" : "g") : "q";
    const std::string size = same ? space.size : "1";
    if (vector == "b" && space.size != "n") return int_leaf(space);
    if (vector == "g" && space.size != "m") return int_leaf(space);
    if (chance(0.01)) return fmt::format("{}[{}]", vector, index);
    return fmt::format("{}[(% (AND INT 1023 {}) {})]", vector, index, size);
  }

  std::string segment(const SpaceNames& space) {
    if (space.segments.empty()) {
      return fmt::format("({} {} i)", chance(0.5) ? "SEGLEN" : "SEGSTART", chance(0.5) ? "d" : "e");
    }
    const std::string number = fmt::format("(SEGNO {} i)", space.segments);
    switch (random_.between(0, 4)) {
      case 0:
        return number;
      case 1:
        return fmt::format("(SEGOFF {} i)", space.segments);
      case 2:
        return fmt::format("(SEGLEN {} {})", space.segments, number);
      case 3:
        return fmt::format("(SEGSTART {} {})", space.segments, number);
      default:
        return space.per_segment.empty() ? number
                                         : fmt::format("{}[{}]", space.per_segment, number);
    }
  }

  std::string boolean(const SpaceNames& space, int depth) {
    if (depth == 0 && !space.bools.empty() && chance(0.7)) return random_.pick(space.bools) + "[i]";
    if (depth == 0) return chance(0.5) ? "T" : "F";
    switch (random_.between(0, 4)) {
      case 0:
        return fmt::format("(NOT BOOL {})", boolean(space, depth - 1));
      case 1:
        return fmt::format("({} BOOL {} {})", random_.pick(Names{"AND", "OR", "XOR", "="}),
                           boolean(space, depth - 1), boolean(space, depth - 1));
      case 2:
        return fmt::format("({} FLOAT {} {})", random_.pick(Names{"<", ">=", "!="}),
                           real(space, depth - 1), real(space, depth - 1));
      default:
        return fmt::format("({} INT {} {})", random_.pick(Names{"<", "<=", "=", ">"}),
                           integer(space, depth - 1), integer(space, depth - 1));
    }
  }

  std::string real(const SpaceNames& space, int depth) {
    if (depth > 0 && chance(0.3)) {
      return fmt::format("(I_TO_F {})", integer(space, depth - 1));
    }
    if (depth > 0 && chance(0.5)) {
      return fmt::format("({} FLOAT {} {})", random_.pick(Names{"+", "-", "*", "/"}),
                         real(space, depth - 1), real(space, depth - 1));
    }
    if (depth > 0 && chance(0.3)) {
      return fmt::format("(IF {} {} {})", boolean(space, depth - 1), real(space, depth - 1),
                         real(space, depth - 1));
    }
    if (!space.floats.empty() && chance(0.7)) return random_.pick(space.floats) + "[i]";
    return fmt::format("{:.2f}", random_.unit() * 8 - 4);
  }

  std::string thunk(const std::string& elements) { return fmt::format("( i => {} )", elements); }

  // ---- expressions of a state of two INTs, a FLOAT and a BOOL ----

  std::string state_integer(int depth) {
    if (depth == 0 || chance(0.2)) {
      return chance(0.8) ? random_.pick(Names{"j", "k"}) : std::to_string(random_.between(-3, 12));
    }
    const auto sub = [&] { return state_integer(depth - 1); };
    switch (random_.between(0, 6)) {
      case 6: {
        const bool table = chance(0.7);
        return fmt::format("(IF (AND BOOL (>= INT {0} 0) (< INT {0} {1})) {2}[{0}] {3})",
                           random_.pick(Names{"j", "k"}), table ? "n" : "m", table ? "b" : "g",
                           sub());
      }
      case 0:
        return fmt::format("(IF {} {} {})", state_flag(depth - 1), sub(), sub());
      case 1:
        return fmt::format("(/ INT {0} (IF (= INT {1} 0) {2} {1}))", sub(),
                           random_.pick(Names{"j", "k"}), random_.between(1, 9));
      case 2:
        return fmt::format("(% {} {})", sub(), random_.between(1, 9));
      default:
        return fmt::format("({} INT {} {})", random_.pick(Names{"+", "-", "*", "AND", "XOR"}),
                           sub(), sub());
    }
  }

  std::string state_flag(int depth) {
    if (depth == 0) return chance(0.5) ? "h" : "(< FLOAT x0 1.5)";
    switch (random_.between(0, 3)) {
      case 0:
        return fmt::format("(NOT BOOL {})", state_flag(depth - 1));
      case 1:
        return fmt::format("({} BOOL {} {})", random_.pick(Names{"AND", "OR", "XOR"}),
                           state_flag(depth - 1), state_flag(depth - 1));
      default:
        return fmt::format("({} INT {} {})", random_.pick(Names{"<", "<=", "!=", ">"}),
                           state_integer(depth - 1), state_integer(depth - 1));
    }
  }

  std::string next_integer(const char* own) {
    return chance(0.2) ? own : chance(0.2) ? random_.pick(Names{"j", "k"}) : state_integer(3);
  }

  // ---- bindings ----

  void output(const std::string& result, const char* type, const std::string& size) {
    outputs_.push_back(fmt::format("{} : VEC {} {}", result, type, size));
  }

  void binding() {
    SpaceNames& space = pick_space();
    const std::string where = random_.pick(space.spaces);
    switch (random_.between(0, 11)) {
      case 11:
        iterate(space, where);
        break;
      case 0:
        reduce(space, where);
        break;
      case 1:
        scan(space, where);
        break;
      case 2:
        filter(space, where);
        break;
      case 3:
        split(space, where);
        break;
      case 4:
        scatter();
        break;
      case 5:
        segments();
        break;
      case 6:
        chance(0.3) ? size() : once();
        break;
      case 7:
        assertion(space, where);
        break;
      case 8:
        random(space, where);
        break;
      default:
        map(space, where);
    }
  }

  void map(SpaceNames& space, const std::string& where) {
    const std::string i = name("y"), x = name("y"), f = name("y");
    const std::string local = name("l");
    body_ += fmt::format(
        "  {}, {}, {} = MAP {} ( i => LET {} = {}\n      (+ INT {} {}), {}, {} )\n", i, x, f, where,
        local, integer(space, 3), local, local, real(space, 2), boolean(space, 2));
    // All of them: what nobody needs, a library need not compute, and then it cannot fail.
    output(i, "INT", space.size);
    output(x, "FLOAT", space.size);
    output(f, "BOOL", space.size);
    space.ints.push_back(i);
    space.floats.push_back(x);
    space.bools.push_back(f);
  }

  std::string stack() {
    const std::string parts[] = {state_integer(2), state_integer(1), "(+ FLOAT x0 1.0)",
                                 state_flag(1)};
    std::string frame = state_flag(2);
    const auto count = static_cast<int>(random_.between(1, 4));
    for (int k = 0; k < count; ++k) frame += ", " + parts[k];
    return fmt::format(
        "    PUSH ( j, k, x0, h => {} )\n    POP ( j, k, x0, h => {} )\n    DEPTH {}\n", frame,
        chance(0.3) ? "T" : state_flag(2), chance(0.2) ? 0 : random_.between(1, 100));
  }

  /// Writes of each round; the names of what becomes of the tables are appended.
  std::string writes(std::string& results) {
    struct Table {
      const char* operand;
      const char* type;
      const char* size;
      std::string element;
    };
    const Table tables[] = {{"b", "INT", "n", state_integer(2)},
                            {"g", "INT", "m", state_integer(1)},
                            {"x", "FLOAT", "n", "(+ FLOAT x0 2.0)"},
                            {"f", "BOOL", "n", state_flag(1)}};
    std::string text;
    std::vector<const Table*> written;
    const auto count = random_.between(1, 4);
    for (std::int64_t k = 0; k < count; ++k) {
      const Table& table = tables[random_.between(0, 3)];
      text += fmt::format("    WRITE {} ( j, k, x0, h => {}, {}, {} )\n", table.operand,
                          chance(0.4) ? "T" : state_flag(2), state_integer(2), table.element);
      if (std::find(written.begin(), written.end(), &table) != written.end()) continue;
      written.push_back(&table);
      const std::string result = name("t");
      results += ", " + result;
      if (chance(0.8)) output(result, table.type, table.size);
    }
    return text;
  }

  void iterate(SpaceNames& space, const std::string& where) {
    const std::string j = name("w"), k = name("w"), x = name("w"), h = name("w");
    const std::string same = chance(0.3) ? "q[0]" : integer(space, 2);
    std::string results = fmt::format("{}, {}, {}, {}", j, k, x, h);
    const std::string stack = serial_loops_ && chance(0.5) ? this->stack() : "";
    const std::string writes = serial_loops_ && chance(0.5) ? this->writes(results) : "";
    const std::string half = "(+ FLOAT (* FLOAT 0.5 x0) (I_TO_F (% j 7)))";
    body_ += fmt::format(
        "  {} = ITERATE {} {}\n    WHILE ( j, k, x0, h => {} )\n"
        "    DO ( j, k, x0, h => {}, {}, {}, {} )\n{}{}    ROUNDS {}\n",
        results, where,
        thunk(fmt::format("{}, {}, {}, {}", integer(space, 2), same, real(space, 0),
                          boolean(space, 1))),
        chance(0.05) ? "T" : state_flag(2), next_integer("j"), next_integer("k"),
        chance(0.3) ? "x0" : half, chance(0.3) ? "h" : state_flag(2), stack, writes,
        chance(0.1) ? 0 : random_.between(1, 60));
    output(j, "INT", space.size);
    if (chance(0.5)) output(k, "INT", space.size);
    if (chance(0.5)) output(x, "FLOAT", space.size);
    if (chance(0.5)) output(h, "BOOL", space.size);
    space.ints.push_back(k);
    space.bools.push_back(h);
  }

  void assertion(const SpaceNames& space, const std::string& where) {
    const std::string condition = thunk(chance(0.9) ? "T" : boolean(space, 2));
    body_ += fmt::format("  ASSERT {} {} \"{} must hold\"\n", where, condition, name("check"));
  }

  void random(SpaceNames& space, const std::string& where) {
    const std::string i = name("u");
    const std::string bound =
        chance(0.3) ? std::to_string(random_.between(1, 1000))
        : chance(0.1)
            ? integer(space, 1)
            : fmt::format("(+ INT 1 (AND INT {} {}))", random_.between(0, 1000), integer(space, 2));
    body_ += fmt::format("  {} = RAND {} {}\n", i, where, thunk(bound));
    if (chance(0.5)) output(i, "INT", space.size);
    space.ints.push_back(i);
  }

  std::string segment_count(const SpaceNames& space, const std::string& where) {
    return where == space.segments ? "s" : "1";
  }

  void reduce(SpaceNames& space, const std::string& where) {
    const std::string i = name("r"), x = name("r"), m = name("r"), f = name("r");
    body_ += fmt::format(
        "  {}, {}, {}, {} = REDUCE {} {} {} INT, + FLOAT, {} FLOAT, {} BOOL\n", i, x, m, f, where,
        thunk(fmt::format("{}, {}, {}, {}", integer(space, 2), real(space, 1), real(space, 1),
                          boolean(space, 2))),
        random_.pick(Names{"+", "*", "MAX", "MIN", "AND", "OR", "XOR"}),
        random_.pick(Names{"MAX", "MIN"}), random_.pick(Names{"AND", "OR", "XOR"}));
    const std::string count = segment_count(space, where);
    output(i, "INT", count);
    output(x, "FLOAT", count);
    output(m, "FLOAT", count);
    output(f, "BOOL", count);
    (count == "1" ? reduced_ : spaces_[2].ints).push_back(i);
  }

  void scan(SpaceNames& space, const std::string& where) {
    const std::string i = name("c"), x = name("c");
    body_ += fmt::format("  {}, {} = SCAN {} {} {} INT, + FLOAT\n", i, x, where,
                         thunk(fmt::format("{}, {}", integer(space, 2), real(space, 1))),
                         random_.pick(Names{"+", "MAX", "MIN", "XOR"}));
    output(i, "INT", space.size);
    output(x, "FLOAT", space.size);
    space.ints.push_back(i);
  }

  void filter(SpaceNames& space, const std::string& where) {
    const std::string i = name("k"), x = name("k"), d = name("k"), size = name("z");
    body_ += fmt::format("  {}, {}, {} = FILTER {} {} {}\n", i, x, d, where,
                         thunk(fmt::format("{}, {}", integer(space, 2), real(space, 1))),
                         thunk(boolean(space, 3)));
    output(i, "INT", size);
    output(x, "FLOAT", size);
    outputs_.push_back(fmt::format("{} : SEG {} {}", d, segment_count(space, where), size));
  }

  void split(SpaceNames& space, const std::string& where) {
    std::string names;
    const auto classes = random_.between(1, 3);
    for (std::int64_t c = 0; c < classes; ++c) {
      const std::string i = name("k"), d = name("k"), size = name("z");
      names += fmt::format("{}{}, {}", names.empty() ? "" : ", ", i, d);
      output(i, "INT", size);
      outputs_.push_back(fmt::format("{} : SEG {} {}", d, segment_count(space, where), size));
    }
    body_ +=
        fmt::format("  {} = SPLIT {} {} {} {}\n", names, classes, where, thunk(integer(space, 2)),
                    thunk(fmt::format("(AND INT 3 {})", integer(space, 2))));
  }

  void scatter() {
    const SpaceNames& from = spaces_[0];
    const SpaceNames& into = spaces_[1];
    const std::string i = name("t");
    const bool segmented = chance(0.5);
    const std::string room = segmented ? "(SEGLEN e (SEGNO d i))" : "m";
    const std::string index =
        fmt::format("(IF (> INT {0} 0) (% (AND INT 1023 {1}) {0}) 0)", room, integer(from, 2));
    body_ +=
        fmt::format("  {} = SCATTER {} {} {} WHEN {} INTO {} {}\n", i, segmented ? "d" : "n",
                    thunk(integer(from, 2)), thunk(index),
                    thunk(fmt::format("(IF (> INT {} 0) {} F)", room, boolean(from, 2))),
                    segmented ? "e" : "m", chance(0.5) ? thunk(integer(into, 1)) : std::string());
    output(i, "INT", "m");
  }

  void segments() {
    const std::string d = name("v"), size = name("z");
    body_ += fmt::format("  {} = SEGMENTS s {}\n", d,
                         thunk(fmt::format("(AND INT {} 5)", integer(spaces_[2], 1))));
    outputs_.push_back(fmt::format("{} : SEG s {}", d, size));
    spaces_.push_back({{size, d}, size, d, "p", {}, {}, {}});
  }

  void size() {
    const std::string size = name("z");
    body_ += fmt::format("  SIZE {} = (AND INT q[0] {})\n", size, random_.between(0, 40));
    spaces_.push_back({{size}, size, "", "", {}, {}, {}});
  }

  void once() {
    const std::string i = name("o");
    const std::string reduced = reduced_.empty() ? "q" : random_.pick(reduced_);
    body_ += fmt::format("  {} = ONCE (+ INT q[0] (* INT 3 {}[0]))\n", i, reduced);
    output(i, "INT", "1");
  }

  property::Random& random_;
  const bool serial_loops_;
  std::vector<SpaceNames> spaces_;
  Names outputs_, reduced_;
  std::string body_;
  int names_ = 0;
};

}  // namespace

std::string random_kernel(property::Random& random, bool serial_loops) {
  return KernelText(random, serial_loops).run();
}

}  // namespace kernel_test
