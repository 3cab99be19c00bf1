// Writes C++ sources with the generated passes of kernels, for the emulated device.
//
//   write-cuda-batch random OUTPUT...       the batch of random kernels, divided between files
//   write-cuda-batch files OUTPUT INPUT...  all kernels of FCODE files and of examples in
//                                           Markdown files
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cvl-cuda/codegen/kernel_code.hpp"
#include "kernels/cuda_batch.hpp"
#include "vcode/parser.hpp"

namespace {

using cvl::cuda::codegen::Generated;
using cvl::cuda::codegen::KernelCode;

class BatchFile {
 public:
  explicit BatchFile(const std::string& path) : out_(path) {
    out_ << "#include \"cvl-cuda/emulated_kernel_module.hpp\"\n\nnamespace cvl::cuda::emulated {\n";
  }
  ~BatchFile() { out_ << "}  // namespace cvl::cuda::emulated\n"; }

  void add(const KernelCode& code, const cvl::Widths& widths) {
    const std::string text = cvl::cuda::codegen::width_aliases(widths) + code.text();
    if (!known_.insert(text).second) return;
    const std::string space = fmt::format("kernel{}", known_.size());
    std::string passes;
    for (std::size_t k = 0; k < code.passes.size(); ++k) {
      passes += fmt::format("launch_pass<{}::Pass{}>, ", space, k);
    }
    out_ << fmt::format(
        "namespace {{\nnamespace {0} {{\n{1}}}  // namespace {0}\n"
        "const EmulatedKernel {0}_known(R\"GENERATED({1})GENERATED\", {{{2}}});\n}}\n",
        space, text, passes);
  }

 private:
  std::ofstream out_;
  std::set<std::string> known_;
};

void add_program(BatchFile& file, const std::string& name, const std::string& text,
                 const cvl::Widths& widths) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<vcode::Source>(name, text);
  const auto program = vcode::parse(source, diagnostics);
  if (!program) {
    std::fputs(vcode::render(diagnostics, source.get(), {}).c_str(), stderr);
    std::exit(1);
  }
  for (const vcode::Kernel& kernel : program->kernels) {
    const auto plan = cvl::cuda::codegen::plan_for_device(kernel);
    if (!plan) continue;
    const Generated generated = cvl::cuda::codegen::generate(*plan);
    if (generated.code) file.add(*generated.code, widths);
  }
}

/// The file, or the examples in it.
std::vector<std::string> programs_of(const std::string& path) {
  std::ifstream in(path);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  if (!path.ends_with(".md")) return {all};
  const std::string begin = "\n```fcode\n", end = "\n```\n";
  std::vector<std::string> programs;
  for (std::size_t at = all.find(begin); at != std::string::npos; at = all.find(begin, at)) {
    at += begin.size();
    programs.push_back(all.substr(at, all.find(end, at) + 1 - at));
  }
  return programs;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "random") {
    const int parts = static_cast<int>(arguments.size()) - 1;
    for (int part = 0; part < parts; ++part) {
      BatchFile file(arguments[static_cast<std::size_t>(part) + 1]);
      for (int k = part; k < kernel_test::kBatchKernels; k += parts) {
        add_program(file, "random.fcode", kernel_test::batch_kernel(k),
                    kernel_test::batch_widths(k));
      }
      if (part > 0) continue;
      for (const kernel_test::CostCase& one : kernel_test::cost_cases()) {
        add_program(file, "cost.fcode", kernel_test::cost_kernel(one), cvl::Widths{});
      }
    }
    return 0;
  }
  if (arguments.size() >= 2 && arguments[0] == "files") {
    BatchFile file(arguments[1]);
    for (std::size_t k = 2; k < arguments.size(); ++k) {
      for (const std::string& program : programs_of(arguments[k])) {
        add_program(file, arguments[k], program, cvl::Widths{});
      }
    }
    return 0;
  }
  std::fputs("usage: write-cuda-batch random OUTPUT... | files OUTPUT INPUT...\n", stderr);
  return 2;
}
