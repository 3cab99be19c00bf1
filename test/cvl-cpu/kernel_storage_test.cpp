// Nothing is written where there is no room for it.

#include "cvl-cpu/kernel_storage.hpp"

#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "tuned.hpp"

namespace kernel_test {
namespace {

using cvl::Form;
using cvl::cpu::checked_storage;

/// The notes of the internal error, or nothing.
std::string complaint(const CpuBackend& cpu, Vector vector, std::int64_t begin, std::int64_t end) {
  try {
    checked_storage(cpu, vector, begin, end);
  } catch (const cvl::Failure& failure) {
    REQUIRE(failure.code() == vcode::ErrorCode::Internal);
    return failure.notes().at(0);
  }
  return {};
}

}  // namespace

TEST_CASE("a result is written only where it has storage") {
  const tuned::Scope usual("usual");  // how many elements a value holds in place
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  Vector dense = cpu.new_vector(Type::Float, 1000);
  REQUIRE(dense.form == Form::Dense);
  REQUIRE(checked_storage(cpu, dense, 0, 1000) == dense.buffer->data);
  REQUIRE(complaint(cpu, dense, 990, 1000).empty());
  REQUIRE(complaint(cpu, dense, 990, 1001).find("elements 990 to 1001 of a vector of 1000") == 0);
  REQUIRE(!complaint(cpu, dense, -1, 10).empty());

  Vector small = cpu.new_vector(Type::Int, 3);
  REQUIRE(checked_storage(cpu, small, 0, 3) == small.payload);
  REQUIRE(!complaint(cpu, small, 0, 4).empty());

  // Never allocated, given away, shorter than it says, and compact: nothing may be written.
  Vector none;
  none.length = 100;
  REQUIRE(complaint(cpu, none, 0, 100) ==
          "elements 0 to 100 of a vector of 100 elements, with room for 4");
  Vector given = dense;
  given.buffer.reset();
  REQUIRE(complaint(cpu, given, 0, 1) ==
          "elements 0 to 1 of a vector of 1000 elements, with room for 0");
  Vector longer = dense;
  longer.length = 1'000'000;
  REQUIRE(complaint(cpu, longer, 0, 1000).empty());
  REQUIRE(!complaint(cpu, longer, 0, 1'000'000).empty());
  Vector constant = dense;
  constant.form = Form::Constant;
  REQUIRE(!complaint(cpu, constant, 0, 1).empty());
}

}  // namespace kernel_test
