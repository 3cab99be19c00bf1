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

// Each letter has its own ascending numbers.
constexpr bool ids_valid() {
  for (std::size_t i = 0; i < std::size(kErrors); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kErrors[j].id == kErrors[i].id) return false;
      if (kErrors[j].id[0] == kErrors[i].id[0] && kErrors[j].id > kErrors[i].id) return false;
    }
  }
  return true;
}
static_assert(ids_valid(), "error codes must be unique, and ascend for each letter");

}  // namespace

std::span<const ErrorInfo> all_errors() {
  return kErrors;
}

const ErrorInfo& info(ErrorCode code) {
  return kErrors[static_cast<std::size_t>(code)];
}

}  // namespace vcode
