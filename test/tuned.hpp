// Test programs that run with other numbers than users get (cvl/tuning.hpp). Every program that
// links `tuned` takes them from the environment variable NESL_TUNING when it starts.
#pragma once

#include <string>

namespace tuned {

/// Sets all numbers of the libraries that the program links.
void set(const std::string& setting);

/// What the environment asked for, or "usual".
std::string from_environment();

/// Other numbers for the life of an object, then those of the environment again.
class Scope {
 public:
  explicit Scope(const std::string& setting) { set(setting); }
  ~Scope() { set(from_environment()); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace tuned
