#include "machine/interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/time.h>

namespace vinterp {
namespace {

extern "C" void leave_note(int signal) {
  pending_signal.store(signal);
}

// Of each signal, when its note was left; 0: it was not.
std::atomic<std::int64_t> noted[NSIG];
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// What comes so soon after the first one says the same: `timeout` signals the process and its
// group.
constexpr std::int64_t kSameRequest = 100'000'000;  // ns

std::int64_t now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A later one gets the default action.
extern "C" void leave_note_once(int signal) {
  const int error = errno;
  const std::int64_t time = now();
  std::int64_t first = 0;
  if (noted[signal].compare_exchange_strong(first, time)) {
    pending_signal.store(signal);
  } else if (time - first > kSameRequest) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

void install(int signal, void (*handler)(int)) {
  noted[signal].store(0);
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals() {
  install(SIGINT, leave_note_once);
  install(SIGTERM, leave_note_once);
}

void handle_interrupts() {
  install(SIGINT, leave_note);
}

void set_time_limit(double seconds) {
  install(SIGALRM, leave_note_once);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  const double fraction = seconds - static_cast<double>(timer.it_value.tv_sec);
  timer.it_value.tv_usec = static_cast<suseconds_t>(fraction * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

SignalsHeldBack::SignalsHeldBack() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeldBack::~SignalsHeldBack() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace vinterp
