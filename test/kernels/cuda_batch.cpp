#include "kernels/cuda_batch.hpp"

#include <fmt/format.h>

#include "kernels/kernel_text.hpp"

namespace kernel_test {

std::string batch_kernel(int number) {
  property::Random random(static_cast<std::uint64_t>(number) + 1);
  return random_kernel(random, false);
}

const std::vector<CostCase>& cost_cases() {
  static const std::vector<CostCase> cases = {
      {"y : VEC INT n", "y = MAP n ( i => (+ INT (* INT a[i] b[i]) i) )", 1, 0},
      {"y : VEC INT 1, z : VEC FLOAT 1",
       "y, z = REDUCE n ( i => (* INT a[i] b[i]), x[i] ) + INT, MAX FLOAT", 1, 0},
      {"y : VEC INT s", "y = REDUCE d ( i => a[i] ) + INT", 1, 0},
      {"y : VEC INT n, z : VEC FLOAT n", "y, z = SCAN n ( i => a[i], x[i] ) + INT, + FLOAT", 1, 0},
      {"y : VEC INT n", "y = SCAN d ( i => a[i] ) MAX INT", 1, 0},
      {"y : VEC INT n, z : VEC INT 1",
       "y = SCAN n ( i => a[i] ) + INT z = REDUCE n ( i => (XOR INT y[i] b[i]) ) MAX INT", 2, 0},
      {"z : VEC INT s",
       "y = SCAN d ( i => a[i] ) + INT z = REDUCE d ( i => (- INT b[i] y[i]) ) + INT", 2, 0},
      {"y : VEC INT n", "y = SCATTER n ( i => a[i] ) ( i => (AND INT b[i] 0) ) INTO n", 1, 0},
      {"y : VEC INT k, z : SEG s k", "y, z = FILTER d ( i => a[i] ) ( i => f[i] )", 1, 1},
      {"y : VEC INT k, r : SEG 1 k, z : VEC INT l, t : SEG 1 l, u : VEC INT m2, v : SEG 1 m2",
       "y, r, z, t, u, v = SPLIT 3 n ( i => a[i] ) ( i => (AND INT a[i] 3) )", 2, 1},
      {"y : VEC INT k, r : SEG 1 k, z : VEC INT l, t : SEG 1 l, u : VEC INT m2, v : SEG 1 m2, "
       "w : VEC INT 1",
       "y, r, z, t, u, v = SPLIT 3 n ( i => a[i] ) ( i => (AND INT a[i] 3) ) "
       "w = REDUCE n ( i => b[i] ) + INT",
       2, 1},
      {"y : VEC INT k, z : SEG s k, w : VEC FLOAT s, u : VEC FLOAT n, v : VEC FLOAT 1",
       "y, z = FILTER d ( i => a[i] ) ( i => f[i] ) "
       "w = REDUCE d ( i => x[i] ) + FLOAT u = SCAN n ( i => (- FLOAT x[i] 0.5) ) + FLOAT "
       "v = REDUCE n ( i => (* FLOAT x[i] x[i]) ) + FLOAT",
       1, 1},
      {"y : VEC INT k", "SIZE k = (+ INT 2000 (AND INT q[0] 1)) y = MAP k ( i => i )", 1, 0},
      {"y : VEC INT 1", "r = RAND n ( i => 9 ) y = REDUCE n ( i => (* INT r[i] a[i]) ) + INT", 1,
       0},
      {"y : VEC INT k, z : SEG s k",
       "r = RAND n ( i => 9 ) t = RAND n ( i => (+ INT 1 r[i]) ) "
       "y, z = FILTER d ( i => t[i] ) ( i => (< INT r[i] 5) )",
       1, 1},
      {"y : VEC FLOAT 1", "r = REDUCE n ( i => x[i] ) + FLOAT y = ONCE (/ FLOAT r[0] (I_TO_F n))",
       2, 0},
  };
  return cases;
}

std::string cost_kernel(const CostCase& one) {
  return fmt::format(
      "FCODE 3 KERNEL k IN d : SEG s n, e : SEG s m, a : VEC INT n, b : "
      "VEC INT n, "
      "x : VEC FLOAT n, f : VEC BOOL n, g : VEC INT m, p : VEC INT s, q : VEC INT 1 "
      "OUT {} DO {} END FUNC MAIN RET",
      one.outputs, one.bindings);
}

cvl::Widths batch_widths(int number) {
  constexpr cvl::Widths kWidths[] = {{4, 8}, {8, 8}, {4, 4}};
  return kWidths[number % 3];
}

}  // namespace kernel_test
