// Every kernel of the library, with every element type that it is instantiated for, is launched by
// operations of the table, and these do what the reference evaluator does.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/ptx/library_kernels.hpp"
#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cuda/make_emulated_backend.hpp"
#include "cvl/check.hpp"
#include "property/harness.hpp"
#include "property/shapes.hpp"
#include "tuned.hpp"

namespace {

using property::Harness;
using property::OperandChoice;
using vcode::Type;

/// Every operation on each `step`-th shape, once; returns the number of runs.
int run_all_operations(Harness& harness, const std::vector<property::Shape>& shapes,
                       std::size_t step) {
  int runs = 0;
  for (const vcode::OpInfo& row : vcode::all_ops()) {
    if (row.family > vcode::Family::Lengths) continue;  // not of a vector library
    for (const Type type : property::types_of(row)) {
      for (std::size_t k = static_cast<std::size_t>(runs) % step; k < shapes.size(); k += step) {
        const property::Shape& shape = shapes[k];
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

/// Operations that use what those before them left: permutations under the result of a RANK, and
/// two under one index. Returns the bytes of all results.
std::vector<std::uint8_t> run_sequences(cvl::Backend& backend) {
  using vcode::Op;
  std::vector<std::uint8_t> bytes;
  const auto run = [&](Op op, Type type, std::vector<cvl::Value> operands) {
    cvl::Value results[vcode::kMaxResults];
    backend.execute(op, type, operands.data(), results);
    return results[0].vector();
  };
  const auto show = [&](const cvl::Vector& vector) {
    const std::size_t begin = bytes.size();
    const auto width = backend.widths().element_bytes(vector.type);
    bytes.resize(begin + static_cast<std::size_t>(vector.length) * width);
    backend.download(vector, 0, vector.length, bytes.data() + begin);
  };
  /// Small numbers are 0 in all bytes but the first, so that they are the same in every width.
  const auto upload = [&](Type type, std::int64_t length, int modulus, bool twice) {
    const auto width = backend.widths().element_bytes(type);
    std::vector<std::uint8_t> elements(static_cast<std::size_t>(length) * width);
    for (std::size_t k = 0; k < static_cast<std::size_t>(length); ++k) {
      elements[k * width] =
          static_cast<std::uint8_t>((twice ? k / 2 : k * 7) % static_cast<std::size_t>(modulus));
    }
    return backend.upload(type, elements.data(), length);
  };
  constexpr std::int64_t kLength = 3000;
  std::vector<cvl::Segdes> descriptors = {cvl::Segdes::single(kLength),
                                          cvl::Segdes::regular(kLength / 3, 3)};
  descriptors.push_back(
      cvl::make_segdes(backend, upload(Type::Int, kLength, 5, false)));  // of 0 to 4 elements
  for (const cvl::Segdes& segdes : descriptors) {
    for (const Type key : {Type::Int, Type::Float}) {
      for (const Type moved : {Type::Int, Type::Bool, Type::Float}) {
        const cvl::Vector values = upload(moved, segdes.total, 2, false);
        const cvl::Vector ranks =
            run(Op::RankUp, key, {upload(key, segdes.total, 100, false), segdes});
        show(ranks);
        show(run(Op::Permute, moved, {values, ranks, segdes}));
      }
    }
    // Under the same index again, where the winners are known.
    const cvl::Vector index = upload(Type::Int, segdes.total, 1, true);
    for (const Type moved : {Type::Int, Type::Bool, Type::Float}) {
      if (segdes.count != 1) break;
      const cvl::Vector values = upload(moved, segdes.total, 2, false);
      show(run(Op::DPermute, moved, {values, index, values, segdes, segdes}));
      show(run(Op::DPermute, moved, {values, index, values, segdes, segdes}));
    }
  }
  return bytes;
}

/// RANK takes keys of four bytes for FLOATs only where there is one segment, and those are read
/// without a table of segments.
const std::set<std::string> kNotReached = {"KeyBody<float,unsignedint,unsignedint>>",
                                           "KeyBody<float,unsignedint,unsignedlong>>"};
bool reached(const std::string& name) {
  return std::none_of(kNotReached.begin(), kNotReached.end(), [&](const std::string& body) {
    return name ==
           "cvl::cuda::native::ExpandKernel<cvl::cuda::native::(anonymousnamespace)::" + body;
  });
}

/// Several tiles of every kernel, none of them full: one segment; or short ones, one that is longer
/// than a tile, and in a row more empty ones than a tile has items.
std::vector<property::Shape> shapes_of_tiles(property::Random& random) {
  std::vector<std::int64_t> lengths;
  for (int k = 0; k < 700; ++k) lengths.push_back(random.between(0, 8));
  lengths.insert(lengths.begin() + 300, 4500, 0);
  lengths.insert(lengths.begin() + 200, 6001);
  return {{"one segment over several tiles", {9001}}, {"segments over several tiles", lengths}};
}

TEST_CASE("operations over several tiles") {
  for (const cvl::Widths& widths : {cvl::Widths{4, 4}, cvl::Widths{8, 8}}) {
    const std::size_t step = widths.int_bytes == 4 ? 1 : 2;
    Harness harness(widths, property::test_seed());
    const int runs = run_all_operations(harness, shapes_of_tiles(harness.random()), step);
    CHECK(runs > 200 / static_cast<int>(step));
  }
}

TEST_CASE("every kernel of the library is launched, with every type") {
  int runs = 0;
  // With small numbers, RANK keeps its positions in eight bytes, and little is done by one block.
  const std::string with_narrow_keys = "block_rank=0,narrowed_keys=0";
  const std::string with_wide_positions = "block_rank=0,narrow_positions=0";
  for (const std::string& setting :
       {std::string("usual"), std::string("smallest"), with_narrow_keys, with_wide_positions}) {
    const tuned::Scope scope(setting);
    for (const cvl::Widths& widths : property::all_widths()) {
      cvl::cuda::CudaOptions options;
      options.widths = widths;
      options.host_elements = 0;
      cvl::cpu::CpuOptions expected;
      expected.widths = widths;
      CHECK(run_sequences(*cvl::cuda::make_emulated_backend(options)) ==
            run_sequences(*std::make_unique<cvl::cpu::CpuBackend>(expected)));
      if (setting == with_narrow_keys || setting == with_wide_positions) continue;
      // Two pairs of widths have all element types; the others share their kernels.
      const bool all_shapes = setting == "usual" && widths.int_bytes == widths.float_bytes;
      Harness harness(widths, property::test_seed());
      runs += run_all_operations(harness, property::small_shapes(harness.random()),
                                 all_shapes ? 5 : 20);
    }
  }
  std::uint64_t launches = 0, kernels = 0;
  for (const auto& [name, count] : cvl::cuda::ptx::library_launches()) {
    INFO(name);
    CHECK((count > 0) == reached(name));
    launches += count;
    ++kernels;
  }
  CHECK(kernels > 300);
  std::cout << kernels << " kernels, " << runs << " runs of operations, " << launches
            << " launches, " << cvl::cuda::ptx::instructions_run() << " instructions\n";
}

}  // namespace
