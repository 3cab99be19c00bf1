#include "cvl-cpu/native_gather.hpp"

namespace cvl::cpu {

namespace Inst = asmjit::x86::Inst;

void write_gather(asmjit::x86::Compiler& c, bool avx512, const asmjit::x86::Vec& out,
                  const GatheredVector& from, const asmjit::x86::Vec& indices, Lane index_lane,
                  const asmjit::x86::Reg& flags) {
  const bool wide = is_wide(from.lane);
  const auto place = asmjit::x86::ptr(from.base, indices, from.bytes ? 0u : wide ? 3u : 2u);
  const asmjit::InstId id = is_wide(index_lane)
                                ? (wide ? Inst::kIdVpgatherqq : Inst::kIdVpgatherqd)
                                : (wide ? Inst::kIdVpgatherdq : Inst::kIdVpgatherdd);
  if (avx512) {
    c.vpxord(out, out, out);
    c.k(flags.as<asmjit::x86::KReg>()).emit(id, out, place);
  } else {
    c.vpxor(out, out, out);
    c.emit(id, out, place, flags);
  }
}

}  // namespace cvl::cpu
