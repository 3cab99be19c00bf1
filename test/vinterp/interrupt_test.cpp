// Signals that ask a run to end, in processes of their own.
#include "machine/interrupt.hpp"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace vinterp {
namespace {

/// What waitpid() says of a process that does only this, and exits with the result.
int status_of(const std::function<int()>& run) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(run());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("signals that come together are one request to end") {
  bool ends_in_good_order = false;
  // A process that waits for its turn between the two signals for longer than what is together ends
  // at once: it is not that slow every time.
  for (int k = 0; k < 20 && !ends_in_good_order; ++k) {
    const int status = status_of([] {
      handle_signals();
      ::raise(SIGINT);
      ::raise(SIGINT);
      return pending_signal.load() == SIGINT ? 7 : 8;
    });
    ends_in_good_order = WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  CHECK(ends_in_good_order);
}

TEST_CASE("a later signal ends the process at once") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = status_of([&] {
      handle_signals();
      ::raise(signal);
      ::usleep(150'000);
      ::raise(signal);
      return 7;
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
  // But for that, each is noted by itself.
  const int status = status_of([] {
    handle_signals();
    ::raise(SIGINT);
    ::usleep(150'000);
    ::raise(SIGTERM);
    return pending_signal.load() == SIGTERM ? 7 : 8;
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace vinterp
