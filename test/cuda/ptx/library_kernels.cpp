#include "cuda/ptx/library_kernels.hpp"

#include <cstddef>
#include <fstream>
#include <memory>
#include <sstream>
#include <typeinfo>
#include <vector>

#include <boost/core/demangle.hpp>
#include <fmt/format.h>

#include "cuda/ptx/device.hpp"
#include "cuda/ptx/fault.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::ptx {
namespace {

using ptx_machine::Fault;
using ptx_machine::Module;

/// The files, between colons.
constexpr const char* kFiles = LIBRARY_PTX;

/// `void native::run_kernel<K>(K)`: K.
std::string type_of_kernel(const std::string& entry) {
  const std::string text = boost::core::demangle(entry.c_str());
  const std::string begin = "run_kernel<";
  const std::size_t at = text.find(begin);
  const std::size_t end = text.rfind(">(");
  if (at == std::string::npos || end == std::string::npos) return text;
  return text.substr(at + begin.size(), end - at - begin.size());
}

/// Names differ in the namespace of what they were compiled for, and by blanks between brackets.
std::string comparable(std::string name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ') result += c;
  }
  const std::string here = "cvl::cuda::ptx::", there = "cvl::cuda::native::";
  for (std::size_t at = result.find(here); at != std::string::npos; at = result.find(here, at)) {
    result.replace(at, here.size(), there);
  }
  return result;
}

class Library {
 public:
  static Library& instance() {
    static Library& library = *new Library;  // as device_memory() is
    return library;
  }

  ptx_machine::Kernel& find(const std::type_info& type) {
    const std::string name = comparable(boost::core::demangle(type.name()));
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw Fault(fmt::format("no PTX has the kernel {}", name));
    return found->second.module->kernel(found->second.name);
  }
  std::map<std::string, std::uint64_t> launches() {
    std::map<std::string, std::uint64_t> result;
    for (const auto& [name, entry] : entries_) {
      result[name] = entry.module->kernel(entry.name).launches;
    }
    return result;
  }

 private:
  struct Entry {
    Module* module;
    std::string name;
  };

  Library() {
    std::istringstream files(kFiles);
    for (std::string file; std::getline(files, file, ':');) {
      std::ostringstream text;
      text << std::ifstream(file).rdbuf();
      modules_.push_back(std::make_unique<Module>(text.str(), device_memory()));
      for (const std::string& name : modules_.back()->names()) {
        entries_[comparable(type_of_kernel(name))] = {modules_.back().get(), name};
      }
    }
  }

  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

std::map<std::string, std::uint64_t> library_launches() {
  return Library::instance().launches();
}

void launch_by_type(Device& device, const std::type_info& kernel, std::int64_t blocks, int threads,
                    const void* parameters, std::size_t bytes) {
  or_abort([&] {
    const auto* begin = static_cast<const std::byte*>(parameters);
    enqueue_kernel(device, Library::instance().find(kernel), blocks, threads,
                   {begin, begin + bytes});
  });
}

}  // namespace cvl::cuda::ptx
