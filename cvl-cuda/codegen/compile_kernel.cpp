#include "cvl-cuda/codegen/compile_kernel.hpp"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "cvl-cuda/codegen/nvrtc.hpp"

namespace cvl::cuda::codegen {
namespace {

/// What is shipped is found whatever compiler, if any, there is where it is used.
std::string shipped_key(const std::string& source, int architecture) {
  static const std::string inputs = KernelCache::key(compilation_inputs());
  return KernelCache::key(fmt::format("{}\nsm_{}\n{}", inputs, architecture, source));
}

std::optional<std::string> find_shipped(const KernelCache& folder, const std::string& source,
                                        int capability) {
  // Machine code runs on devices of the same major number and the same or a higher minor one.
  for (int architecture = capability; architecture / 10 == capability / 10; --architecture) {
    if (auto cubin = folder.load(shipped_key(source, architecture))) return cubin;
  }
  return std::nullopt;
}

/// The compiler, for an architecture whose machine code runs on the device.
struct Target {
  const Nvrtc& compiler;
  int architecture;
};

std::optional<Target> target_for(int capability, std::string& why) {
  const Nvrtc* compiler = Nvrtc::find(why);
  if (compiler == nullptr) return std::nullopt;
  const std::optional<int> architecture = compiler->architecture_for(capability);
  if (!architecture) {
    why = fmt::format("NVRTC {} cannot compile for compute capability {}.{}", compiler->version(),
                      capability / 10, capability % 10);
    return std::nullopt;
  }
  return Target{*compiler, *architecture};
}

/// What is kept here may differ from compiler to compiler.
std::string own_key(const Target& target, const std::string& source) {
  return KernelCache::key(fmt::format("NVRTC {}\n{}", target.compiler.version(),
                                      shipped_key(source, target.architecture)));
}

std::optional<std::string> compile(const Target& target, const std::string& source,
                                   std::string& why) {
  std::string log;
  auto cubin = target.compiler.compile(source, target.architecture, log);
  if (!cubin) {
    why = fmt::format("NVRTC {} rejects the generated text:\n{}", target.compiler.version(), log);
  }
  return cubin;
}

}  // namespace

KernelFolders KernelFolders::of_user() {
  const char* shipped = std::getenv("NESL_KERNELS");
  return {KernelCache(shipped != nullptr ? shipped : ""), KernelCache::of_user()};
}

std::optional<CompiledKernel> find_kernel(const KernelCode& code, const Widths& widths,
                                          int capability, const KernelFolders& folders) {
  const std::string source = device_source(code, widths);
  if (auto cubin = find_shipped(folders.shipped, source, capability)) {
    return CompiledKernel{std::move(*cubin), true};
  }
  std::string why;
  const auto target = target_for(capability, why);
  if (!target) return std::nullopt;
  auto cubin = folders.own.load(own_key(*target, source));
  if (!cubin) return std::nullopt;
  return CompiledKernel{std::move(*cubin), true};
}

std::optional<CompiledKernel> compile_kernel(const KernelCode& code, const Widths& widths,
                                             int capability, const KernelFolders& folders,
                                             std::string& why) {
  if (auto found = find_kernel(code, widths, capability, folders)) return found;
  const auto target = target_for(capability, why);
  if (!target) return std::nullopt;
  const std::string source = device_source(code, widths);
  auto cubin = compile(*target, source, why);
  if (!cubin) return std::nullopt;
  folders.own.store(own_key(*target, source), *cubin);
  return CompiledKernel{std::move(*cubin), false};
}

bool ship_kernel(const KernelCode& code, const Widths& widths, int capability,
                 const KernelCache& folder, std::string& why) {
  const auto target = target_for(capability, why);
  if (!target) return false;
  const std::string source = device_source(code, widths);
  const auto cubin = compile(*target, source, why);
  if (!cubin) return false;
  if (folder.store(shipped_key(source, target->architecture), *cubin)) return true;
  why = "the file cannot be written";
  return false;
}

}  // namespace cvl::cuda::codegen
