#include "machine/value_stack.hpp"

#include <catch2/catch.hpp>

#include "cvl/failure.hpp"
#include "cvl/host_memory.hpp"

namespace {

using cvl::Value;

TEST_CASE("the value stack holds references to buffers", "[value_stack]") {
  cvl::HostMemory memory;
  cvl::Heap heap(memory);
  cvl::Vector vector;
  vector.form = cvl::Form::Dense;
  vector.length = 1000;
  vector.buffer = heap.allocate(4000);
  const cvl::Buffer* const buffer = vector.buffer.get();
  {
    vinterp::ValueStack stack(heap);
    for (int i = 0; i < 1000; ++i) {
      stack.reserve(1);
      stack.push(Value(vector));
    }
    CHECK(buffer->refs == 1001);
    stack.pop(400, 100);
    CHECK(buffer->refs == 601);
    stack.move_to_top(300, 300);
    stack.move_to_top(2, 20);
    stack.reserve(100);
    stack.copy(100, 50);
    CHECK(stack.size() == 700);
    CHECK(buffer->refs == 701);
    Value results[2] = {Value(vector), Value(cvl::Segdes::single(3))};
    stack.reserve(2);
    stack.replace(3, results, 2);
    CHECK(stack.size() == 699);
    CHECK(stack.values().back().type() == cvl::Type::Segdes);
    CHECK(buffer->refs == 699);
    CHECK(heap.statistics().charged_bytes >= 700 * sizeof(Value));
  }
  CHECK(buffer->refs == 1);
  CHECK(heap.statistics().charged_bytes == 0);
}

TEST_CASE("stacks stop at the memory limit", "[value_stack]") {
  cvl::HostMemory memory;
  cvl::Heap heap(memory, 100'000);
  vinterp::ValueStack stack(heap);
  CHECK_THROWS_AS(stack.reserve(1'000'000), cvl::Failure);
  stack.reserve(10);
  vinterp::CallStack calls(heap, 5000);
  for (std::uint32_t i = 0; i < 5000; ++i) calls.push(i);
  try {
    calls.push(0);
    FAIL("pushed beyond the limit");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::CallDepth);
  }
  for (std::uint32_t i = 5000; i-- > 0;) CHECK(calls.pop() == i);
}

}  // namespace
