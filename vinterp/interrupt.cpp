#include "vinterp/interrupt.hpp"

#include <cmath>
#include <csignal>
#include <sys/time.h>

namespace vinterp {
namespace {

extern "C" void leave_note(int signal) {
  pending_signal.store(signal);
}

void install(int signal) {
  struct sigaction action = {};
  action.sa_handler = leave_note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one gets the default action
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals() {
  install(SIGINT);
  install(SIGTERM);
}

void set_time_limit(double seconds) {
  install(SIGALRM);
  double whole = 0;
  const double fraction = std::modf(seconds, &whole);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>(fraction * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace vinterp
