// The CUDA C++ text of kernels, and its way to machine code, for which neither a device nor a
// driver is needed. What needs the compiler has the tag [nvrtc], and is skipped where there is
// none.
#include <filesystem>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "cuda/ptx_text.hpp"
#include "cvl-cuda/codegen/compile_kernel.hpp"
#include "cvl-cuda/codegen/kernel_cache.hpp"
#include "cvl-cuda/codegen/kernel_code.hpp"
#include "cvl-cuda/codegen/kernel_compiler.hpp"
#include "cvl-cuda/codegen/nvrtc.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"
#include "kernels/cuda_batch.hpp"
#include "kernels/kernel_check.hpp"
#include "skip.hpp"

namespace {

using namespace cvl::cuda::codegen;
namespace fs = std::filesystem;

vcode::Program program_of(const std::string& text) {
  std::string messages;
  auto program = kernel_test::parsed(text, messages);
  INFO(messages);
  REQUIRE(program);
  return std::move(*program);
}

Generated generated(const vcode::Kernel& kernel) {
  const auto plan = plan_for_device(kernel);
  REQUIRE(plan);
  return generate(*plan);
}

/// A folder that lasts as long as the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("nesl-kernels-{}", ::getpid());
  ~Folder() { fs::remove_all(path); }
};

constexpr const char* kMulAdd =
    "FCODE 3\n"
    "KERNEL muladd\n"
    "IN a : VEC INT n, b : VEC INT n, c : VEC INT n\n"
    "OUT y : VEC INT n\n"
    "DO y = MAP n ( i => (+ INT (* INT a[i] b[i]) c[i]) )\n"
    "END\n"
    "FUNC MAIN RET\n";

TEST_CASE("the text of a map") {
  const auto program = program_of(kMulAdd);
  const Generated result = generated(program.kernels[0]);
  REQUIRE(result.code);
  REQUIRE(result.code->passes.size() == 1);
  const std::string text = result.code->text();
  const std::string::size_type visit = text.find("    [[maybe_unused]] const Int v0");
  REQUIRE(visit != std::string::npos);
  CHECK(text.substr(visit) ==
        "    [[maybe_unused]] const Int v0 = loaded.v0;\n"
        "    [[maybe_unused]] const Int v1 = loaded.v1;\n"
        "    [[maybe_unused]] const Int v2 = loaded.v2;\n"
        "    [[maybe_unused]] const Int v3 = apply_functor<ops::Multiply, Int>(v2, v1);\n"
        "    [[maybe_unused]] const Int v4 = apply_functor<ops::Add, Int>(v3, v0);\n"
        "    stored.out3 = v4;\n"
        "  }\n"
        "};\n");
  // Elements go to registers first, of one position or of a run of them, and come from there.
  for (const char* moved :
       {"    loaded.v0 = a2[i];\n", "    loaded.v0 = a2.dense_element(i);\n",
        "    runs.template load<kCount>(a2, i, ", "    out3[i] = stored.out3;\n",
        "    runs.template store<kCount>(out3, i, "}) {
    INFO(moved);
    CHECK(text.find(moved) < visit);
  }
  CHECK(result.code->sites.empty());
  CHECK(readable_source(program.kernels, {}).find("// Kernel `muladd`") != std::string::npos);
}

TEST_CASE("the text of a selection and a scan evaluates every position once") {
  const auto program = program_of(
      "FCODE 3\n"
      "KERNEL k\n"
      "IN a : VEC INT n, x : VEC FLOAT n\n"
      "OUT y : VEC INT k, z : SEG 1 k, w : VEC FLOAT n\n"
      "DO y, z = FILTER n ( i => (* INT a[i] 3) ) ( i => (> INT a[i] i) )\n"
      "   w = SCAN n ( i => x[i] ) + FLOAT\n"
      "END\n"
      "FUNC MAIN RET\n");
  const Generated result = generated(program.kernels[0]);
  REQUIRE(result.code);
  REQUIRE(result.code->passes.size() == 1);
  CHECK(result.code->passes[0].running);
  CHECK_FALSE(result.code->passes[0].counted);
  const std::string text = result.code->text();
  const std::string::size_type kept = text.find("  struct Kept {"),
                               evaluate = text.find("evaluate("), finish = text.find("finish("),
                               conclude = text.find("conclude(");
  REQUIRE(kept < evaluate);
  REQUIRE(evaluate < finish);
  REQUIRE(finish < conclude);
  REQUIRE(conclude != std::string::npos);
  CHECK(text.substr(kept, text.find("};", kept) - kept) ==
        "  struct Kept {\n"
        "    Int v3;\n"
        "    Bool v4;\n"
        "    Float v5;\n"
        "  ");
  // Operands are read and operations done before it is known what lies before a position, …
  const std::string before = text.substr(evaluate, finish - evaluate);
  for (const char* once : {"ops::Multiply", "ops::Greater"}) {
    INFO(once);
    const std::string::size_type at = text.find(once);
    CHECK(before.find(once) != std::string::npos);
    CHECK(text.find(once, at + 1) == std::string::npos);
  }
  const std::string load = " = loaded.";
  const std::string::size_type first = text.find(load), second = text.find(load, first + 1);
  CHECK(evaluate < first);
  CHECK(second < finish);
  CHECK(text.find(load, second + 1) == std::string::npos);
  // … and what depends on that is written afterwards.
  const std::string after = text.substr(finish, conclude - finish);
  CHECK(before.find("out") == std::string::npos);
  CHECK(after.find("if (v4 != 0) gathered.out2[state.f1.value - before.f1.value] = v3;") !=
        std::string::npos);
  CHECK(after.find("stored.out3 = v6;") != std::string::npos);
}

TEST_CASE("the more a position keeps the shorter are the runs of threads") {
  const auto run_of = [](int components, const char* flag = "(< INT (% i 3) 2)") {
    std::string in, out, names, values;
    for (int k = 0; k < components; ++k) {
      const char* comma = k == 0 ? "" : ", ";
      in += fmt::format("{}x{} : VEC FLOAT n", comma, k);
      out += fmt::format("y{} : VEC FLOAT k, ", k);
      names += fmt::format("y{}, ", k);
      values += fmt::format("{}x{}[i]", comma, k);
    }
    const auto program = program_of(
        fmt::format("FCODE 3 KERNEL k IN {} OUT {}z : SEG 1 k DO {}z = FILTER n ( i => {} ) "
                    "( i => {} ) END FUNC MAIN RET",
                    in, out, names, values, flag));
    return generated(program.kernels[0]).code->passes[0].run;
  };
  CHECK(run_of(1) == kLongestRun / 2);
  CHECK(run_of(2) == kLongestRun / 4);
  CHECK(run_of(3) == kLongestRun / 4);
  CHECK(run_of(4) == kLongestRun / 8);
  CHECK(run_of(16) == 1);
  CHECK(run_of(40) == 1);
  // A flag that is made of what is kept anyway is not kept.
  CHECK(run_of(1, "(> FLOAT x0[i] 0.5)") == kLongestRun);
  CHECK(run_of(2, "(> FLOAT x0[i] x1[i])") == kLongestRun / 2);
  CHECK(run_of(2, "(> FLOAT (+ FLOAT x0[i] x1[i]) 0.5)") == kLongestRun / 4);
}

TEST_CASE("names are no part of the text that is compiled") {
  const std::string renamed =
      "FCODE 3\n"
      "KERNEL other\n"
      "IN u : VEC INT k, v : VEC INT k, w : VEC INT k\n"
      "OUT z : VEC INT k\n"
      "DO z = MAP k ( j => (+ INT (* INT u[j] v[j]) w[j]) )\n"
      "END\n"
      "FUNC MAIN RET\n";
  const auto a = program_of(kMulAdd), b = program_of(renamed);
  CHECK(device_source(*generated(a.kernels[0]).code, {4, 8}) ==
        device_source(*generated(b.kernels[0]).code, {4, 8}));
  CHECK(device_source(*generated(a.kernels[0]).code, {4, 8}) !=
        device_source(*generated(a.kernels[0]).code, {8, 8}));
}

TEST_CASE("passes that fold too many values are left to the SPEC, with a reason") {
  const auto with = [](int scans) {
    std::string outputs, values, monoids;
    for (int k = 0; k < scans; ++k) {
      const char* comma = k == 0 ? "" : ", ";
      outputs += fmt::format("{}r{} : VEC INT n", comma, k);
      values += fmt::format("{}(+ INT a[i] {})", comma, k);
      monoids += fmt::format("{}+ INT", comma);
    }
    std::string names;
    for (int k = 0; k < scans; ++k) names += fmt::format("{}r{}", k == 0 ? "" : ", ", k);
    return fmt::format(
        "FCODE 3\nKERNEL k IN a : VEC INT n OUT {} DO {} = SCAN n ( i => {} ) {} "
        "END FUNC MAIN RET",
        outputs, names, values, monoids);
  };
  const auto fits = program_of(with(20)), many = program_of(with(21));
  CHECK(generated(fits.kernels[0]).code);
  const Generated refused = generated(many.kernels[0]);
  CHECK_FALSE(refused.code);
  CHECK(refused.reason ==
        "pass 0 folds 21 values, and at most 20 fit the shared memory of a block");
}

TEST_CASE("kernels on disk are found again, and nothing else is") {
  const Folder folder;
  const KernelCache cache(folder.path / "deep" / "er");
  const std::string key = KernelCache::key("text");
  CHECK(key.size() == 32);
  CHECK_FALSE(cache.load(key));
  const std::string content("machine\0code", 12);
  REQUIRE(cache.store(key, content));
  REQUIRE(cache.load(key));
  CHECK(*cache.load(key) == content);
  CHECK_FALSE(cache.load(KernelCache::key("other text")));
  const fs::path file = folder.path / "deep" / "er" / (key + ".cubin");
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
  fs::resize_file(file, fs::file_size(file) - 1);
  CHECK_FALSE(cache.load(key));
  CHECK_FALSE(KernelCache("").store(key, content));
}

/// The compiler; null, and the test case counts as skipped, where there is none.
const Nvrtc* find_or_skip() {
  std::string why;
  const Nvrtc* compiler = Nvrtc::find(why);
  if (compiler == nullptr) {
    CHECK_FALSE(why.empty());
    testing::skip(why);
  }
  return compiler;
}

TEST_CASE("generated text compiles, is kept, and is shipped", "[nvrtc]") {
  const Nvrtc* compiler = find_or_skip();
  if (compiler == nullptr) return;
  std::string why;
  const Folder folder;
  const KernelFolders folders{KernelCache(""), KernelCache(folder.path / "own")};
  const int capability = compiler->architectures().back();
  // Of each kind of pass some kernels: they take a second each.
  for (int number = 0; number < 6; ++number) {
    const std::string text = kernel_test::batch_kernel(number);
    INFO(text);
    const auto program = program_of(text);
    const Generated result = generated(program.kernels[0]);
    REQUIRE(result.code);
    const cvl::Widths widths = kernel_test::batch_widths(number);
    const auto first = compile_kernel(*result.code, widths, capability, folders, why);
    INFO(why);
    REQUIRE(first);
    CHECK_FALSE(first->found);
    const auto again = compile_kernel(*result.code, widths, capability, folders, why);
    REQUIRE(again);
    CHECK(again->found);
    CHECK(again->cubin == first->cubin);
  }
  const auto program = program_of(kMulAdd);
  const KernelCode code = *generated(program.kernels[0]).code;
  const KernelCache shipped(folder.path / "shipped");
  REQUIRE(ship_kernel(code, {}, capability, shipped, why));
  const auto found = compile_kernel(code, {}, capability, {shipped, KernelCache("")}, why);
  REQUIRE(found);
  CHECK(found->found);
}

TEST_CASE("kernels that are expected next are compiled beside the one that is wanted", "[nvrtc]") {
  const Nvrtc* compiler = find_or_skip();
  if (compiler == nullptr) return;
  std::string why;
  const Folder folder;
  const int capability = compiler->architectures().back();
  const KernelFolders folders{KernelCache(""), KernelCache(folder.path / "own")};
  std::vector<vcode::Program> programs;
  for (const char* value : {"x[i]", "(+ INT x[i] 1)", "(* INT x[i] 3)", "(- INT x[i] 5)"}) {
    programs.push_back(program_of(fmt::format(
        "FCODE 3\nKERNEL k\nIN x : VEC INT n\nOUT y : VEC INT n\nDO\n  y = MAP n ( i => {} )\nEND\n"
        "FUNC MAIN RET\n",
        value)));
  }
  std::vector<KernelCode> codes;
  std::vector<const vcode::Kernel*> kernels;
  for (const vcode::Program& program : programs) {
    codes.push_back(*generated(program.kernels[0]).code);
    kernels.push_back(&program.kernels[0]);
  }
  const auto take = [&](KernelCompiler& compiler_of_all, std::size_t k) {
    const auto kernel = compiler_of_all.take({*kernels[k], codes[k]}, capability, why);
    INFO(why);
    REQUIRE(kernel);
    return *kernel;
  };
  KernelCompiler pairs({}, 2, folders);
  pairs.expect(kernels);
  const CompiledKernel second = take(pairs, 1);
  CHECK_FALSE(second.found);
  CHECK(pairs.compiled() == 2);  // and the one after it
  CHECK(take(pairs, 2).cubin != second.cubin);
  CHECK(pairs.compiled() == 2);
  CHECK(take(pairs, 0).cubin != second.cubin);
  CHECK(pairs.compiled() == 4);  // and the next one that has not been compiled yet
  take(pairs, 3);
  CHECK(pairs.compiled() == 4);

  KernelCompiler again({}, 1, folders);
  CHECK(take(again, 1).found);  // although nobody expected it
  CHECK(take(again, 1).cubin == second.cubin);
  CHECK(again.compiled() == 0);
  KernelCompiler unexpected({}, 2, {KernelCache(""), KernelCache("")});
  unexpected.expect({kernels[3]});
  CHECK(take(unexpected, 1).cubin == second.cubin);
  CHECK(unexpected.compiled() == 1);

  KernelCode wrong = codes[0];
  wrong.passes[0].text += "this is no C++";
  const KernelCache shipped(folder.path / "shipped");
  CHECK_FALSE(ship_kernels({codes[0], codes[2]}, {}, capability, 2, shipped, why));
  CHECK(find_kernel(codes[0], {}, capability, {shipped, KernelCache("")}));
  CHECK(find_kernel(codes[2], {}, capability, {shipped, KernelCache("")}));
  CHECK(ship_kernels({codes[3], wrong}, {}, capability, 2, shipped, why) == 1U);
  CHECK(why.find("rejects the generated text") != std::string::npos);
}

TEST_CASE("generated text compares numbers and not their last eight bits", "[nvrtc]") {
  const Nvrtc* compiler = find_or_skip();
  if (compiler == nullptr) return;
  std::string why;
  constexpr std::pair<const char*, const char*> kComparisons[] = {
      {"<", "Less"},          {"<=", "LessEqual"}, {">", "Greater"},
      {">=", "GreaterEqual"}, {"=", "Equal"},      {"!=", "NotEqual"}};
  // Operands of their own for each, so that the compiler does not make one from another.
  std::string in, out, bindings;
  int number = 0;
  const auto add = [&](const std::string& type, const std::string& value) {
    in +=
        fmt::format("{0}a{1} : VEC {2} n, b{1} : VEC {2} n", number == 0 ? "" : ", ", number, type);
    out += fmt::format("{}y{} : VEC BOOL n", number == 0 ? "" : ", ", number);
    bindings += fmt::format("y{} = MAP n ( i => {} )\n", number, value);
    ++number;
  };
  for (const char* type : {"INT", "FLOAT"}) {
    for (const auto& [text, id] : kComparisons) {
      add(type, fmt::format("({0} {1} a{2}[i] b{2}[i])", text, type, number));
    }
  }
  add("INT", fmt::format("(I_TO_B a{}[i])", number));
  const auto program = program_of(fmt::format(
      "FCODE 3\nKERNEL k\nIN {}\nOUT {}\nDO {}END\nFUNC MAIN RET\n", in, out, bindings));
  const Generated result = generated(program.kernels[0]);
  REQUIRE(result.code);
  for (const std::uint8_t bytes : {4, 8}) {
    const auto module =
        compiler->compile(device_source(*result.code, {bytes, bytes}),
                          compiler->architectures().back(), why, Nvrtc::Output::Ptx);
    INFO(why);
    REQUIRE(module);
    const std::string kernel = ptx::entry(*module, "pass0");
    INFO(kernel);
    for (const bool of_floats : {false, true}) {
      for (const auto& [text, id] : kComparisons) {
        const std::string instruction = fmt::format("setp.{}.{}{}", ptx::condition(id, of_floats),
                                                    of_floats ? "f" : "s", 8 * bytes);
        INFO(instruction);
        CHECK(ptx::has(kernel, instruction));
      }
    }
    CHECK_FALSE(ptx::cuts_to_bool(kernel));
  }
}

TEST_CASE("what the compiler says about wrong text is passed on", "[nvrtc]") {
  if (find_or_skip() == nullptr) return;
  std::string why;
  const auto program = program_of(kMulAdd);
  KernelCode code = *generated(program.kernels[0]).code;
  code.passes[0].text += "this is no C++";
  CHECK_FALSE(compile_kernel(code, {}, 90, {KernelCache(""), KernelCache("")}, why));
  CHECK(why.find("rejects the generated text") != std::string::npos);
  CHECK(why.find("error") != std::string::npos);
  CHECK_FALSE(compile_kernel(*generated(program.kernels[0]).code, {}, 11,
                             {KernelCache(""), KernelCache("")}, why));
  CHECK(why.find("compute capability 1.1") != std::string::npos);
}

}  // namespace
