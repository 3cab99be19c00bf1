#include <string>
#include <vector>

#include "fcode-opt/command.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return fcode::run_command(arguments);
}
