#include "cvl/tuning.hpp"

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using cvl::Tunable;

struct Numbers {
  std::int64_t tile = 4096, limit = -1, flag = 1;
  const Tunable table[3] = {{"tile", &tile, 4096, 64, 4096, 64},
                            {"limit", &limit, -1, 0, 1000, 1},
                            {"flag", &flag, 1, 0, 1, 1}};

  void set(std::string_view setting) { cvl::tune(setting, {table}); }
  std::vector<std::int64_t> values() const { return {tile, limit, flag}; }
};

using Values = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("settings choose values that are allowed") {
  Numbers numbers;
  numbers.set("smallest");
  REQUIRE(numbers.values() == Values{64, 0, 0});
  numbers.set("odd");
  REQUIRE(numbers.values() == Values{192, 5, 1});
  numbers.set("usual");
  REQUIRE(numbers.values() == Values{4096, -1, 1});
  numbers.set("tile=192,flag=0");
  REQUIRE(numbers.values() == Values{192, -1, 0});
  numbers.set("flag=0");  // the others are as usual again
  REQUIRE(numbers.values() == Values{4096, -1, 0});
  numbers.set("smallest,tile=128");
  REQUIRE(numbers.values() == Values{128, 0, 0});
}

TEST_CASE("values by chance depend on the seed alone and reach both ends") {
  Numbers numbers;
  std::set<std::int64_t> tiles, limits;
  for (int seed = 0; seed < 500; ++seed) {
    const std::string setting = "random:" + std::to_string(seed);
    numbers.set(setting);
    const Values values = numbers.values();
    REQUIRE(values[0] % 64 == 0);
    REQUIRE((values[0] >= 64 && values[0] <= 4096));
    REQUIRE((values[1] >= -1 && values[1] <= 1000));
    REQUIRE((values[2] == 0 || values[2] == 1));
    tiles.insert(values[0]);
    limits.insert(values[1]);
    numbers.set("usual");
    numbers.set(setting);
    REQUIRE(numbers.values() == values);
  }
  REQUIRE(tiles.count(64) + tiles.count(4096) + tiles.count(128) == 3);
  REQUIRE(tiles.size() > 20);
  REQUIRE(limits.count(-1) + limits.count(0) == 2);
  REQUIRE(limits.size() > 50);
}

TEST_CASE("settings that cannot be understood are refused") {
  Numbers numbers;
  for (const char* wrong : {"tiny", "random:", "random:x", "tile", "tile=", "tile=65", "tile=32",
                            "tile=8192", "size=64", "tile=64,flag=2", "smallest,tiny"}) {
    CAPTURE(wrong);
    REQUIRE_THROWS_AS(numbers.set(wrong), std::invalid_argument);
  }
}

TEST_CASE("the numbers of the heap have their usual values") {
  for (const Tunable& each : cvl::heap_tunables()) {
    CAPTURE(each.name);
    REQUIRE(*each.value == each.usual);
    REQUIRE(each.least <= each.most);
  }
}
