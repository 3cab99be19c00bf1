#include "vcode/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

namespace vcode {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("integers up to 64 bits", "[numbers]") {
  CHECK(read_integer("+5") == 5);
  CHECK(read_integer("-007") == -7);
  CHECK(read_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(read_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(read_integer("9223372036854775808"));
  CHECK_FALSE(read_integer("-9223372036854775809"));
  CHECK_FALSE(read_integer(std::string(1000, '9')));
}

TEST_CASE("reals are rounded as C does it", "[numbers]") {
  for (const char* text : {"1.", "-1.e2", "+0.5", "0.1", "1.7976931348623157e308", "4.9e-324",
                           "2.2250738585072011e-308", "2.4703282292062328e-324", "-0.0",
                           "9007199254740993.0", "123456789012345678901234567890.123e-5"}) {
    INFO(text);
    CHECK(std::bit_cast<std::uint64_t>(read_real(text)) ==
          std::bit_cast<std::uint64_t>(std::strtod(text, nullptr)));
  }
}

TEST_CASE("reals out of range become infinity or zero", "[numbers]") {
  CHECK(read_real("1.0e400") == kInfinity);
  CHECK(read_real("-1.0e400") == -kInfinity);
  CHECK(read_real("1.0e-400") == 0.0);
  CHECK(std::signbit(read_real("-1.0e-400")));
  CHECK(read_real("1.0e99999999999999999999999") == kInfinity);
  CHECK(read_real("1.0e-99999999999999999999999") == 0.0);
  CHECK(read_real("0.0e99999999999999999999999") == 0.0);
  CHECK(read_real(std::string(400, '9') + ".0") == kInfinity);
  CHECK(read_real("0." + std::string(400, '0') + "1") == 0.0);
  CHECK(read_real("0." + std::string(400, '0') + "1e401") == 1.0);
  CHECK(read_real("0." + std::string(400, '0') + "1e1000") == kInfinity);
}

}  // namespace
}  // namespace vcode
