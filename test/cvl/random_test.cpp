#include "cvl/random.hpp"

#include <vector>

#include <catch2/catch.hpp>

TEST_CASE("what programs of the classic toolchain expect of the first draws") {
  const auto state = cvl::seeded(cvl::kDefaultSeed);
  CHECK(cvl::draw(state.key, 0, 100) > 0);
  CHECK(cvl::draw(state.key, 1, 200) > 0);
  CHECK(cvl::draw(cvl::seeded(100).key, 0, 1000) != cvl::draw(cvl::seeded(200).key, 0, 1000));
}

TEST_CASE("draws stay below their bound and are spread evenly") {
  const auto key = cvl::seeded(12345).key;
  for (const std::uint64_t bound :
       {1ull, 2ull, 10ull, 1000ull, 0xFFFFFFFFull, 0x100000000ull, 0x7FFFFFFFFFFFFFFFull}) {
    constexpr int kDraws = 20000;
    std::vector<int> tenths(10);
    for (int k = 0; k < kDraws; ++k) {
      const std::uint64_t drawn = cvl::draw(key, static_cast<std::uint64_t>(k), bound);
      REQUIRE(drawn < bound);
      ++tenths[static_cast<std::size_t>(static_cast<double>(drawn) / static_cast<double>(bound) *
                                        10)];
    }
    if (bound < 10) continue;
    for (const int count : tenths) CHECK(count == Approx(kDraws / 10).epsilon(0.1));
  }
}

TEST_CASE("streams of different seeds are unrelated") {
  int equal = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    equal += cvl::draw(cvl::seeded(1).key, k, 1000) == cvl::draw(cvl::seeded(2).key, k, 1000);
  }
  CHECK(equal < 10);
}
