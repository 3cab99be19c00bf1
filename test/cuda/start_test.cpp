// vinterp starts on any machine: without a driver or device it says so in one sentence when asked
// for the GPU, and goes on without one when it may choose.
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "cvl-cuda/make_backend.hpp"

namespace {

struct Ended {
  int status;
  std::string output;
};

Ended run_vinterp(const std::string& arguments) {
  const std::string command =
      "echo 'FUNC MAIN CONST INT 6 CONST INT 7 * INT RET' | " VINTERP_PROGRAM " --color=never " +
      arguments + " /dev/stdin 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    output.push_back(static_cast<char>(c));
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

}  // namespace

TEST_CASE("a program with the CUDA library starts on any machine") {
  const std::string reason = cvl::cuda::cuda_unavailable_reason();
  const Ended asked = run_vinterp("--backend=cuda");
  if (reason.empty()) {
    CHECK(asked.status == 0);
    CHECK(asked.output == "( 42 )\n");
  } else {
    CHECK(asked.status == 5);
    CHECK(asked.output.rfind("vinterp: error: ", 0) == 0);
    CHECK(asked.output.find(reason) != std::string::npos);
  }
  CHECK((reason.find("built without") == std::string::npos) == cvl::cuda::cuda_built());
  const Ended chosen = run_vinterp("--backend=auto");
  CHECK(chosen.status == 0);
  CHECK(chosen.output == "( 42 )\n");
}
