// Every kernel of the library, with every element type that it is instantiated for, is launched by
// operations of the table, and these do what the reference evaluator does.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/ptx/library_kernels.hpp"
#include "property/harness.hpp"
#include "property/shapes.hpp"
#include "tuned.hpp"

namespace {

using property::Harness;
using property::OperandChoice;
using vcode::Type;

std::vector<Type> types_of(const vcode::OpInfo& row) {
  if (!row.takes_type()) return {Type::Int};
  std::vector<Type> types;
  for (const Type type : {Type::Int, Type::Bool, Type::Float}) {
    if (row.allows(type)) types.push_back(type);
  }
  return types;
}

/// Every operation on every small shape, once; returns the number of runs.
int run_all_operations(Harness& harness) {
  int runs = 0;
  const std::vector<property::Shape> shapes = property::small_shapes(harness.random());
  for (const vcode::OpInfo& row : vcode::all_ops()) {
    if (row.family > vcode::Family::Lengths) continue;  // not of a vector library
    for (const Type type : types_of(row)) {
      for (const property::Shape& shape : shapes) {
        const OperandChoice choice{row.op, type, harness.widths(), true, false};
        const auto operands = property::make_operands(choice, shape, harness.random());
        INFO(property::label(choice) << ", shape `" << shape.name << "`");
        CHECK(harness.check(choice, operands) == "");
        ++runs;
      }
    }
  }
  return runs;
}

TEST_CASE("every kernel of the library is launched, with every type") {
  int runs = 0;
  // With small numbers, RANK keeps its positions in eight bytes, and little is done by one block.
  for (const std::string setting : {"usual", "smallest"}) {
    const tuned::Scope scope(setting);
    for (const cvl::Widths& widths : property::all_widths()) {
      Harness harness(widths, property::test_seed());
      runs += run_all_operations(harness);
    }
  }
  std::uint64_t launches = 0, kernels = 0;
  for (const auto& [name, count] : cvl::cuda::ptx::library_launches()) {
    INFO(name);
    CHECK(count > 0);
    launches += count;
    ++kernels;
  }
  CHECK(kernels > 300);
  std::cout << kernels << " kernels, " << runs << " runs of operations, " << launches
            << " launches, " << cvl::cuda::ptx::instructions_run() << " instructions\n";
}

}  // namespace
