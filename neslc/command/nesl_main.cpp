#include <string>
#include <vector>

#include "neslc/command/nesl_command.hpp"

int main(int argc, char** argv) {
  return neslc::run_nesl(argc > 0 ? argv[0] : "nesl",
                         std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
