#include "cvl-cpu/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using cvl::cpu::ThreadPool;

TEST_CASE("every index is called once, whatever the steps", "[threads]") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const std::int64_t step : {1, 3, 100}) {
      for (const std::int64_t end : {0, 1, 2, 7, 100, 1000}) {
        std::vector<int> calls(static_cast<std::size_t>(end));
        auto count = [&](std::int64_t index) { ++calls[static_cast<std::size_t>(index)]; };
        pool.run(end, step, count);
        CHECK(calls == std::vector<int>(static_cast<std::size_t>(end), 1));
      }
    }
  }
}

TEST_CASE("what one call writes, all calls of the next work see", "[threads]") {
  ThreadPool pool(4);
  std::vector<int> values(64);
  for (int round = 0; round < 2000; ++round) {
    auto follow = [&](std::int64_t index) {
      // Another thread wrote it, most likely.
      if (values[static_cast<std::size_t>(index)] != round) throw std::logic_error("old");
      values[static_cast<std::size_t>(index)] = round + 1;
    };
    pool.run(64, 1, follow);
    // Long enough, now and then, for all to fall asleep.
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(values == std::vector<int>(64, 2000));
}

TEST_CASE("each thread begins with the same indices again", "[threads]") {
  constexpr int kThreads = 3;
  ThreadPool pool(kThreads);
  std::vector<std::thread::id> first;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::thread::id> threads(kThreads);
    std::atomic<int> begun{0};
    // Nobody is done before all have begun, so that nobody helps the others.
    auto begin = [&](std::int64_t index) {
      threads[static_cast<std::size_t>(index)] = std::this_thread::get_id();
      ++begun;
      while (begun.load() < kThreads) std::this_thread::yield();
    };
    pool.run(kThreads, 1, begin);
    if (round == 0) first = threads;
    CHECK(threads == first);
  }
}

TEST_CASE("a call may wait for the call before it", "[threads]") {
  ThreadPool pool(3);
  std::atomic<std::int64_t> done{0};
  auto in_turn = [&](std::int64_t index) {
    while (done.load() != index) std::this_thread::yield();
    done.store(index + 1);
  };
  pool.run_in_order(500, in_turn);
  CHECK(done.load() == 500);
}

TEST_CASE("an exception reaches the caller, and the pool goes on", "[threads]") {
  ThreadPool pool(4);
  for (const std::int64_t bad : {0, 17, 99}) {
    std::atomic<int> calls{0};
    auto fail = [&](std::int64_t index) {
      ++calls;
      if (index == bad) throw std::runtime_error("index " + std::to_string(index));
    };
    CHECK_THROWS_WITH(pool.run(100, 1, fail), "index " + std::to_string(bad));
    CHECK(calls.load() <= 100);
    calls = 0;
    auto good = [&](std::int64_t) { ++calls; };
    pool.run(100, 1, good);
    CHECK(calls.load() == 100);
  }
}

}  // namespace
