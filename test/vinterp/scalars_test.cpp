// Operations on single elements in the machine against those of the CPU library.
#include "machine/scalars.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"

namespace {

using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;

std::vector<Vector> edges(const cvl::Widths& widths, Type type) {
  std::vector<Vector> result;
  if (type == Type::Bool) return {cvl::make_bool(false), cvl::make_bool(true)};
  if (type == Type::Int) {
    const bool wide = widths.int_bytes == 8;
    const std::int64_t least =
        wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
    for (const std::int64_t number : {least, least + 1, std::int64_t{-1}, std::int64_t{0},
                                      std::int64_t{1}, std::int64_t{65537}, -(least + 1)}) {
      result.push_back(cvl::make_int(widths, number));
    }
    return result;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double number : {-infinity, -1.5, -0.0, 0.0, 1e-30, 3.25, 1e30, infinity,
                              std::numeric_limits<double>::quiet_NaN()}) {
    result.push_back(cvl::make_float(widths, number));
  }
  return result;
}

bool is_nan(const cvl::Widths& widths, const Vector& vector) {
  if (vector.type != Type::Float) return false;
  return widths.float_bytes == 4 ? std::isnan(*vector.inline_elements<float>())
                                 : std::isnan(*vector.inline_elements<double>());
}

vinterp::TypedOp typed(Op op, Type type) {
  vinterp::TypedOp result;
  result.op = op;
  result.type = type;
  result.operands = static_cast<std::uint8_t>(vcode::info(op).operands.size());
  result.results = static_cast<std::uint8_t>(vcode::info(op).results.size());
  return result;
}

/// How many operations of a type are computed; all must give what the library gives.
int check(cvl::cpu::CpuBackend& cpu, Type type) {
  const cvl::Widths widths = cpu.widths();
  int computed = 0;
  for (std::size_t number = 0; number < vcode::kOpCount; ++number) {
    const vinterp::TypedOp op = typed(static_cast<Op>(number), type);
    const vcode::OpInfo& info = vcode::info(op.op);
    if (info.family != vcode::Family::Elementwise || op.operands != 2) continue;
    const std::vector<Vector> operands = edges(widths, type);
    bool any = false;
    for (const Vector& first : operands) {
      for (const Vector& second : operands) {
        CAPTURE(number, static_cast<int>(type));
        Value own[] = {first, second};
        if (!vinterp::compute_scalar(op, widths, own)) continue;
        any = true;
        Value library[] = {first, second}, result;
        cpu.execute(op.op, type, library, &result);
        const Vector& wanted = result.vector();
        const Vector& found = own[0].vector();
        REQUIRE(found.type == wanted.type);
        REQUIRE(found.length == 1);
        const bool nan = is_nan(widths, wanted);
        REQUIRE(is_nan(widths, found) == nan);
        if (nan) continue;  // whose sign nobody promises
        REQUIRE(std::memcmp(found.payload, wanted.payload, widths.element_bytes(wanted.type)) == 0);
      }
    }
    computed += any ? 1 : 0;
  }
  return computed;
}

TEST_CASE("the machine computes single elements as the library does", "[machine]") {
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 4}}) {
    cvl::cpu::CpuOptions options;
    options.widths = widths;
    options.threads = 1;
    cvl::cpu::CpuBackend cpu(options);
    CHECK(check(cpu, Type::Int) == 9);
    CHECK(check(cpu, Type::Float) == 9);
    CHECK(check(cpu, Type::Bool) == 2);
  }
}

TEST_CASE("the machine leaves longer vectors and other operations to the library", "[machine]") {
  const cvl::Widths widths{4, 8};
  Vector two = cvl::make_int(widths, 1);
  two.length = 2;
  Value long_ones[] = {two, two};
  CHECK_FALSE(vinterp::compute_scalar(typed(Op::Add, Type::Int), widths, long_ones));
  Value numbers[] = {cvl::make_int(widths, 6), cvl::make_int(widths, 3)};
  CHECK_FALSE(vinterp::compute_scalar(typed(Op::Divide, Type::Int), widths, numbers));
  CHECK_FALSE(vinterp::compute_scalar(typed(Op::BPermute, Type::Int), widths, numbers));
  Value described[] = {cvl::make_int(widths, 6), cvl::Segdes::single(1)};
  CHECK_FALSE(vinterp::compute_scalar(typed(Op::AddReduce, Type::Int), widths, described));
}

}  // namespace
