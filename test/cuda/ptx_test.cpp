// What the device compiler makes of operations with a result of type BOOL. The emulated device
// cannot tell: its compiler is another one, and nvcc once took the wrong branch of an `if
// constexpr`, by which all operands of comparisons were cut to eight bits.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/ptx_text.hpp"
#include "vcode/opcodes.hpp"

namespace {

std::string content(const char* file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Row {
  std::string id, in, out;
};
std::vector<Row> elementwise_rows() {
  return {
#define ELEMENTWISE(id, text, types, in, out, doc) {#id, in, out},
#include "vcode/opcodes.def"
  };
}

TEST_CASE("the device compares numbers and not their last eight bits") {
  const std::string module = content(COMPARISONS_PTX);
  int kernels = 0;
  for (const Row& row : elementwise_rows()) {
    if (row.out != "B") continue;
    for (const std::string type : {"s32", "s64", "f32", "f64"}) {
      const bool of_floats = type[0] == 'f';
      if (of_floats && row.in == "I") continue;
      INFO(row.id << " " << type);
      const std::string kernel = ptx::entry(module, row.id + "_" + type);
      REQUIRE_FALSE(kernel.empty());
      INFO(kernel);
      CHECK(ptx::has(kernel, "setp." + ptx::condition(row.id, of_floats) + "." + type));
      CHECK_FALSE(ptx::cuts_to_bool(kernel));
      ++kernels;
    }
  }
  CHECK(kernels == 26);
}

}  // namespace
