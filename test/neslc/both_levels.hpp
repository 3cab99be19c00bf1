// The same program without and with optimization: its values and messages are compared.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "evaluations.hpp"

namespace neslc::testing {

/// Rounds of loops are machine code from the beginning, plain or not, or never: settings of the
/// tuning.
inline constexpr const char* kRoundSettings[] = {"rounds_without_code=2,rounds_in_plain_code=3",
                                                 "rounds_without_code=2",
                                                 "rounds_without_code=512"};

/// Functions, without that word in front of them, and calls.
struct FunctionExample {
  std::vector<const char*> functions, calls;
};

class BothLevels {
 public:
  void define(const std::string& text) {
    plain_.define(text);
    optimized_.define(text);
  }
  /// The value, or the message of the failure, which is the same at both levels.
  std::string check(const std::string& text) {
    INFO(text);
    const std::string value = optimized_.value(text);
    CHECK(value == plain_.value(text));
    return value.starts_with("it = ") ? value.substr(5) : value;
  }
  /// Defines the functions and checks the calls, all of whose functions there are.
  void check(const FunctionExample& example) {
    for (const char* const function : example.functions) {
      INFO(function);
      define("function " + std::string(function));
    }
    for (const char* const call : example.calls) {
      CHECK(check(call).find("defined") == std::string::npos);
    }
  }
  /// The value with optimization alone.
  std::string optimized(const std::string& text) { return optimized_.value(text).substr(5); }

 protected:
  Evaluations plain_{0}, optimized_{3};
};

}  // namespace neslc::testing
