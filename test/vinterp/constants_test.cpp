// The constants of a program as values of a run.
#include "machine/constants.hpp"

#include <catch2/catch.hpp>

#include "vinterp/machine_support.hpp"

namespace {

std::vector<cvl::Value> constants_of(const std::string& body, cvl::Backend& backend) {
  vcode::Diagnostics diagnostics;
  const auto program = vinterp::load_program(
      std::make_shared<const vcode::Source>("test.vcode", "FUNC MAIN " + body + " RET"),
      diagnostics, {});
  REQUIRE(program);
  std::vector<cvl::Value> values = vinterp::load_constants(*program, backend, diagnostics);
  REQUIRE_FALSE(diagnostics.has_errors());
  return values;
}

// More than lie in the value itself.
const std::string kMany = " 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 ";
const std::string kManyReals = " 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 ";

TEST_CASE("equal vectors share their elements, others do not") {
  cvl::cpu::CpuBackend backend({});
  const std::vector<cvl::Value> values =
      constants_of("CONST INT (1" + kMany + ") CONST INT (1" + kMany + ") CONST INT (2" + kMany +
                       ") CONST FLOAT (0.0" + kManyReals + ") CONST FLOAT (-0.0" + kManyReals +
                       ") CONST SEGDES (1" + kMany + ") CONST FLOAT (0.0" + kManyReals + ")",
                   backend);
  REQUIRE(values.size() == 7);
  const auto shared = [&](std::size_t a, std::size_t b) {
    REQUIRE(values[a].vector().buffer);
    return values[a].vector().buffer.get() == values[b].vector().buffer.get();
  };
  CHECK(shared(0, 1));
  CHECK_FALSE(shared(0, 2));
  CHECK_FALSE(shared(3, 4));
  CHECK(shared(3, 6));
  CHECK(values[5].type() == vcode::Type::Segdes);
}

TEST_CASE("what is computed from one of two equal constants does not change the other") {
  const std::string constant = "CONST INT (1" + kMany + ") ";
  const vinterp_test::Ran ran =
      vinterp_test::run_program("FUNC MAIN " + constant + constant + constant + "* INT RET");
  CHECK(ran.stack == "( 1" + kMany +
                         ")\n"
                         "( 1 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 )\n");
}

}  // namespace
