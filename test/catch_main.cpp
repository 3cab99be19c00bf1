#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "skip.hpp"

namespace testing {
namespace {

bool skipped = false;

}  // namespace

void skip(const std::string& why) {
  WARN("skipped: " << why);
  skipped = true;
}

}  // namespace testing

int main(int argc, char** argv) {
  const int status = Catch::Session().run(argc, argv);
  return status == 0 && testing::skipped ? testing::kSkipped : status;
}
