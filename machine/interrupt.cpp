#include "machine/interrupt.hpp"

#include <csignal>
#include <sys/time.h>

namespace vinterp {
namespace {

extern "C" void leave_note(int signal) {
  pending_signal.store(signal);
}

// The second one gets the default action.
constexpr int kOnce = static_cast<int>(SA_RESETHAND);

void install(int signal, int flags) {
  struct sigaction action = {};
  action.sa_handler = leave_note;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals() {
  install(SIGINT, kOnce);
  install(SIGTERM, kOnce);
}

void handle_interrupts() {
  install(SIGINT, 0);
}

void set_time_limit(double seconds) {
  install(SIGALRM, kOnce);
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
