// What another thread makes ahead of time.
#include "machine/ahead.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

namespace {

using Stop = std::function<bool()>;
using vinterp::Ahead;

TEST_CASE("nothing is made before somebody asks whether it is ready") {
  std::atomic<int> made{0};
  {
    const Ahead<int> ahead([&](const Stop&) { return ++made; });
  }
  CHECK(made == 0);
}

TEST_CASE("what is made is made once, by another thread, and can be moved only") {
  std::atomic<int> made{0};
  const std::thread::id here = std::this_thread::get_id();
  Ahead<std::unique_ptr<std::thread::id>> ahead([&](const Stop&) {
    ++made;
    return std::make_unique<std::thread::id>(std::this_thread::get_id());
  });
  while (!ahead.ready()) std::this_thread::yield();
  CHECK(ahead.ready());
  CHECK(*ahead.take() != here);
  CHECK(made == 1);
}

TEST_CASE("what has not been begun, or has failed, is made by who takes it") {
  Ahead<int> unbegun([](const Stop& stop) { return stop() ? 1 : 2; });
  CHECK(unbegun.take() == 2);
  std::atomic<int> tries{0};
  Ahead<int> failing([&](const Stop&) {
    if (++tries == 1) throw std::bad_alloc();
    return tries.load();
  });
  CHECK_FALSE(failing.ready());
  while (tries == 0) std::this_thread::yield();
  CHECK(failing.take() == 2);
  CHECK_FALSE(failing.ready());
  Ahead<int> wrong([](const Stop&) -> int { throw std::runtime_error("always"); });
  CHECK_FALSE(wrong.ready());
  CHECK_THROWS_AS(wrong.take(), std::runtime_error);
}

TEST_CASE("what is not wanted any more is told to end") {
  std::atomic<bool> begun{false}, ended{false};
  {
    Ahead<int> ahead([&](const Stop& stop) {
      begun = true;
      while (!stop()) std::this_thread::yield();
      ended = true;
      return 0;
    });
    while (!begun) ahead.ready();
    CHECK_FALSE(ended);
  }
  CHECK(ended);
}

}  // namespace
