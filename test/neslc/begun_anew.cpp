// begun_anew WORK[+] nesl|vinterp argument...
//
// The command, with a default run as written that ends after so much work, at most, and waits for
// the optimizer; with a plus, the optimizer begins then, and the run goes on until it has ended.
// Built without BEGUN_ANEW_NESL it is vinterp alone, and takes less to build.
#include <cstdio>
#include <string>
#include <vector>

#include "machine/adaptive.hpp"
#if defined(BEGUN_ANEW_NESL)
#include "neslc/command/nesl_command.hpp"
#endif
#include "vinterp/command.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() < 3) {
    std::fputs("begun_anew WORK[+] nesl|vinterp argument...\n", stderr);
    return 2;
  }
  vinterp::most_work_before_optimizing = std::stoull(words[1]);
  vinterp::always_waits_for_optimizer = !words[1].ends_with('+');
  const std::vector<std::string> arguments(words.begin() + 3, words.end());
#if defined(BEGUN_ANEW_NESL)
  if (words[2] == "nesl") return neslc::run_nesl("nesl", arguments);
#endif
  return vinterp::run_command(arguments);
}
