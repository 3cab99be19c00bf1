#include "vcode/error_codes.hpp"

#include <array>
#include <cstddef>

namespace vcode {
namespace {

constexpr ErrorInfo kErrors[] = {
#define ERROR_CODE(id, text, error_class, title) \
  {ErrorCode::id, text, ErrorClass::error_class, title},
#include "vcode/error_codes.def"
};

constexpr bool ids_ascend() {
  for (std::size_t i = 1; i < std::size(kErrors); ++i) {
    if (kErrors[i].id <= kErrors[i - 1].id) return false;
  }
  return true;
}
static_assert(ids_ascend(), "error codes must be unique and listed in ascending order");

}  // namespace

std::span<const ErrorInfo> all_errors() {
  return kErrors;
}

const ErrorInfo& info(ErrorCode code) {
  return kErrors[static_cast<std::size_t>(code)];
}

}  // namespace vcode
