// Requests from outside that end a run: Ctrl-C, a termination signal, a time limit.
//
// The handlers only leave a note; the machine looks at it where that is cheap, and ends the run in
// good order. A second signal of the same kind ends the process at once, unless it comes with the
// first one.
#pragma once

#include <atomic>
#include <csignal>

namespace vinterp {

/// 0, or the number of the signal that asks the run to end (SIGALRM: the time limit).
inline std::atomic<int> pending_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

inline bool must_end() {
  return pending_signal.load(std::memory_order_relaxed) != 0;
}

/// Handles SIGINT and SIGTERM from now on. Reads that wait for input return (EINTR).
void handle_signals();

/// Handles SIGINT only, and every one: for a prompt, which a second Ctrl-C does not end either. To
/// be called again after handle_signals().
void handle_interrupts();

/// Leaves SIGALRM as the note after so many seconds of wall-clock time.
void set_time_limit(double seconds);

/// Holds signals back from the calling thread as long as this lives, and for good from threads that
/// it starts meanwhile: signals are for the thread that runs the program, which may wait for input.
class SignalsHeldBack {
 public:
  SignalsHeldBack();
  ~SignalsHeldBack();
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

}  // namespace vinterp
