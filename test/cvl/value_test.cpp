#include "cvl/value.hpp"

#include <catch2/catch.hpp>

#include "cvl/failure.hpp"
#include "cvl/host_memory.hpp"

using cvl::Type;
using cvl::Value;

TEST_CASE("values of every kind are copied and moved") {
  cvl::HostMemory memory;
  cvl::Heap heap(memory);
  cvl::Vector dense;
  dense.form = cvl::Form::Dense;
  dense.length = 100;
  dense.buffer = heap.allocate(400);
  const Value vector(dense);
  CHECK(dense.buffer->refs == 2);
  Value copy = vector;
  CHECK(dense.buffer->refs == 3);
  Value moved = std::move(copy);
  CHECK(dense.buffer->refs == 3);
  moved = Value(cvl::Segdes::regular(3, 4));
  CHECK(dense.buffer->refs == 2);
  CHECK(moved.type() == Type::Segdes);
  CHECK(moved.segdes().total == 12);
  moved = cvl::make_pair(vector, Value(cvl::make_bool(true)));
  CHECK(dense.buffer->refs == 3);
  CHECK(moved.pair().node->second.vector().inline_elements<std::uint8_t>()[0] == 1);
  const Value& alias = moved;
  moved = alias;  // self-assignment
  CHECK(moved.type() == Type::Pair);
  moved = Value();
  CHECK(dense.buffer->refs == 2);
}

TEST_CASE("pairs nested a million deep are taken apart without recursion") {
  Value nest(cvl::make_int({}, 1));
  for (int depth = 0; depth < 1'000'000; ++depth) {
    nest = depth % 2 == 0 ? cvl::make_pair(nest, Value()) : cvl::make_pair(Value(), nest);
  }
  const Value shared = nest.pair().node->first;
  nest = Value();
  CHECK(shared.is_vector());
}

TEST_CASE("scalars keep to the width of the run") {
  CHECK(cvl::make_int({4, 8}, 2147483647).inline_elements<std::int32_t>()[0] == 2147483647);
  CHECK_THROWS_AS(cvl::make_int({4, 8}, 2147483648), cvl::Failure);
  CHECK(cvl::make_int({8, 8}, 2147483648).inline_elements<std::int64_t>()[0] == 2147483648);
  CHECK(cvl::make_float({4, 4}, 0.5).inline_elements<float>()[0] == 0.5F);
  CHECK(cvl::make_float({4, 8}, 0.1).inline_elements<double>()[0] == 0.1);
}

TEST_CASE("sizes in messages") {
  CHECK(cvl::format_bytes(640) == "640 bytes");
  CHECK(cvl::format_bytes(1536) == "1.5 KiB");
  CHECK(cvl::format_bytes(std::size_t{3} << 30) == "3.0 GiB");
}
