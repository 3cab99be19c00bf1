// Where no machine code can be made.

#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

bool has_native_form(Isa, Widths, vcode::Op, Type) {
  return false;
}
bool has_serial_form(Isa) {
  return false;
}
bool has_native_fold(Isa, Widths, vcode::Op, Type) {
  return false;
}
bool has_native_result(Isa, Type) {
  return false;
}
bool has_native_backwards(Isa, Type) {
  return false;
}
NativeCode::NativeCode(void*, std::size_t, std::int64_t) {}
NativeCode::~NativeCode() = default;
std::int64_t NativeCode::reach(const std::byte* const*, std::int64_t) const {
  return 0;
}
std::unique_ptr<NativeCode> NativeCode::make(const NativeLoop&, Isa, Widths) {
  return nullptr;
}
std::unique_ptr<NativeCode> NativeCode::make(const NativeRounds&, Isa, Widths) {
  return nullptr;
}
std::unique_ptr<NativeCode> NativeCode::make(const NativePieces&, Isa, Widths) {
  return nullptr;
}

}  // namespace cvl::cpu
