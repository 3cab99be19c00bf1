#include "fcode-opt/stopping.hpp"

#include <utility>

namespace fcode {
namespace {

thread_local const std::function<bool()>* asked = nullptr;

}  // namespace

Stopping::Stopping(const std::function<bool()>& question)
    : before_(std::exchange(asked, &question)) {}

Stopping::~Stopping() {
  asked = before_;
}

void end_if_asked() {
  if (asked != nullptr && *asked && (*asked)()) throw Stopped();
}

}  // namespace fcode
