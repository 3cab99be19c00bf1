// Optimization that ends before it is done.
//
// The passes say now and then where they would end, however deep they are in their work: nobody
// should have to wait for a result that is no longer wanted.
#pragma once

#include <exception>
#include <functional>

namespace fcode {

/// Thrown out of optimize() then. What was being optimized is lost.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "optimization was stopped"; }
};

/// While it lives, end_if_asked() in this thread asks `question`, which may be empty: never.
class Stopping {
 public:
  explicit Stopping(const std::function<bool()>& question);
  ~Stopping();
  Stopping(const Stopping&) = delete;
  Stopping& operator=(const Stopping&) = delete;

 private:
  const std::function<bool()>* before_;
};

/// Throws Stopped if it is time to. To be called about once in a tenth of a millisecond.
void end_if_asked();

}  // namespace fcode
