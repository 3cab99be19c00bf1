#include "cvl-cuda/codegen/nvrtc.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>

#include <fmt/format.h>

#include "cvl-cuda/codegen/device_headers.hpp"

namespace cvl::cuda::codegen {
namespace {

constexpr int kSuccess = 0;
/// One rounding for each operation is visible in results, so nothing is contracted. The headers
/// also have functions for the host, which need not be told apart here.
constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false",
                                    "--device-as-default-execution-space"};
/// Those that know C++20.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

/// Where toolkits are, besides the places that the loader looks at.
std::vector<std::string> folders() {
  std::vector<std::string> result = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* folder = std::getenv(variable);
    if (folder == nullptr || *folder == '\0') continue;
    result.push_back(fmt::format("{}/lib64/", folder));
    result.push_back(fmt::format("{}/lib/", folder));
  }
#if defined(NESL_CUDA_LIBRARY_FOLDER)
  result.push_back(NESL_CUDA_LIBRARY_FOLDER "/");
#endif
  return result;
}

void* open_library(std::string& why) {
  for (const std::string& folder : folders()) {
    for (const char* name : kNames) {
      if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
  }
  why = fmt::format("NVRTC ({}) of the CUDA toolkit was not found", kNames[0]);
  return nullptr;
}

}  // namespace

struct Nvrtc::Functions {
  using Program = struct ProgramHandle*;
  int (*version)(int*, int*) = nullptr;
  int (*number_of_architectures)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;

  /// Looks all of them up. False when one is missing.
  bool load(void* library) {
    bool all = true;
    const auto find = [&]<class Function>(Function& function, const char* name) {
      function = reinterpret_cast<Function>(dlsym(library, name));
      all &= function != nullptr;
    };
    find(version, "nvrtcVersion");
    find(number_of_architectures, "nvrtcGetNumSupportedArchs");
    find(architectures, "nvrtcGetSupportedArchs");
    find(error_text, "nvrtcGetErrorString");
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(ptx_size, "nvrtcGetPTXSize");
    find(ptx, "nvrtcGetPTX");
    return all;
  }
};

const Nvrtc* Nvrtc::find(std::string& why) {
  // Loaded once and never unloaded.
  struct Found {
    Functions functions;
    std::unique_ptr<Nvrtc> compiler;
    std::string why;
    Found() {
      void* library = open_library(why);
      if (library == nullptr) return;
      if (functions.load(library)) {
        compiler.reset(new Nvrtc(functions));
      } else {
        why = "the NVRTC of this machine lacks a function that is needed";
      }
    }
  };
  static const Found found;
  if (!found.compiler) why = found.why;
  return found.compiler.get();
}

Nvrtc::Nvrtc(const Functions& functions) : functions_(functions) {
  int major = 0, minor = 0, count = 0;
  functions_.version(&major, &minor);
  version_ = fmt::format("{}.{}", major, minor);
  functions_.number_of_architectures(&count);
  architectures_.resize(static_cast<std::size_t>(count));
  functions_.architectures(architectures_.data());
  std::sort(architectures_.begin(), architectures_.end());
}

std::optional<int> Nvrtc::architecture_for(int capability) const {
  // Machine code runs on devices of the same major number and the same or a higher minor one.
  std::optional<int> best;
  for (const int architecture : architectures_) {
    if (architecture <= capability && architecture / 10 == capability / 10) best = architecture;
  }
  return best;
}

std::string compilation_inputs() {
  std::string text;
  for (const char* option : kOptions) text += fmt::format("{}\n", option);
  for (std::size_t k = 0; k < kEmbeddedHeaderCount; ++k) text += kEmbeddedHeaders[k].text;
  return text;
}

std::optional<std::string> Nvrtc::compile(const std::string& source, int architecture,
                                          std::string& log, Output output) const {
  const std::string standard = fmt::format("#include \"{}\"\n", kDeviceStd);
  std::vector<const char*> texts, names;
  for (std::size_t k = 0; k < kEmbeddedHeaderCount; ++k) {
    texts.push_back(kEmbeddedHeaders[k].text);
    names.push_back(kEmbeddedHeaders[k].name);
  }
  for (const char* name : kStandardHeaders) {
    texts.push_back(standard.c_str());
    names.push_back(name);
  }
  Functions::Program program = nullptr;
  int error = functions_.create(&program, source.c_str(), "kernel.cu",
                                static_cast<int>(texts.size()), texts.data(), names.data());
  if (error != kSuccess) {
    log = functions_.error_text(error);
    return std::nullopt;
  }
  const std::string target = fmt::format("--gpu-architecture=sm_{}", architecture);
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(target.c_str());
  error = functions_.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  std::optional<std::string> result;
  if (error == kSuccess) {
    const bool as_ptx = output == Output::Ptx;
    (as_ptx ? functions_.ptx_size : functions_.cubin_size)(program, &size);
    result.emplace(size, '\0');
    (as_ptx ? functions_.ptx : functions_.cubin)(program, result->data());
    if (as_ptx) result->resize(size - 1);  // text ends with a zero
  } else {
    functions_.log_size(program, &size);
    log.assign(size, '\0');
    functions_.log(program, log.data());
    log.resize(std::char_traits<char>::length(log.c_str()));
    if (log.empty()) log = functions_.error_text(error);
  }
  functions_.destroy(&program);
  return result;
}

}  // namespace cvl::cuda::codegen
