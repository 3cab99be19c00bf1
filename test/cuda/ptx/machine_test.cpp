// What the machine computes, and what it does not forgive: each by a kernel of a few lines.
#include "cuda/ptx/machine.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/ptx/fault.hpp"

namespace {

using ptx_machine::Fault;
using ptx_machine::Kernel;
using ptx_machine::Machine;
using ptx_machine::Memory;
using ptx_machine::Module;

constexpr std::uint32_t kThreads = 64;

/// A kernel with one parameter, the address of 32-bit words: of `%rd1` that of word %tid.x.
std::string kernel_of(const std::string& body, const std::string& variables = {}) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n" + variables +
         ".visible .entry k(.param .u64 words)\n{\n"
         ".reg .pred %p<4>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
         ".reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n"
         ".shared .align 16 .b8 shared[256];\n.local .align 16 .b8 local[32];\n"
         "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [words];\n"
         "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n" +
         body + "\nret;\n}\n";
}

/// Words of device memory, of which the first `written` are so.
class Words {
 public:
  Words(std::size_t count, std::size_t written) : bytes_(count * 4) {
    data_ = memory.acquire(bytes_);
    REQUIRE(data_ != nullptr);
    memory.begin_use(data_, bytes_);
    memory.set_written(data_, written * 4);
    std::memset(data_, 0, written * 4);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::vector<std::uint32_t> read() const {
    memory.check_range_read(data_, bytes_);
    std::vector<std::uint32_t> words(bytes_ / 4);
    std::memcpy(words.data(), data_, bytes_);
    return words;
  }

  Memory memory;

 private:
  std::size_t bytes_;
  std::byte* data_;
};

void run(const std::string& text, Words& words, std::int64_t blocks = 1, std::uint64_t seed = 1,
         Machine::Warps warps = Machine::Warps::Free) {
  Module module(text, words.memory);
  constexpr std::uint64_t kMostSteps = 10'000'000;
  Machine machine(words.memory, seed, warps, kMostSteps);
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::uint64_t address = words.address();
  std::vector<std::byte> parameters(sizeof address);
  std::memcpy(parameters.data(), &address, sizeof address);
  machine.run(module.kernel("k"), order, kThreads, parameters);
}

/// The message of the fault that running the body ends with; empty when there is none.
std::string fault_of(const std::string& body, std::size_t written = kThreads) {
  Words words(kThreads, written);
  try {
    run(kernel_of(body), words);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

/// What thread 0 stores of %r1 after the body.
std::uint32_t result_of(const std::string& body) {
  Words words(kThreads, 0);
  run(kernel_of(body + "\nst.global.u32 [%rd1], %r1;"), words);
  return words.read()[0];
}

}  // namespace

TEST_CASE("instructions of a kernel are run by all of its threads") {
  Words words(kThreads, 0);
  run(kernel_of("mad.lo.s32 %r1, %r0, %r0, 7;\nst.global.u32 [%rd1], %r1;"), words);
  const std::vector<std::uint32_t> found = words.read();
  for (std::uint32_t k = 0; k < kThreads; ++k) CHECK(found[k] == k * k + 7);
}

TEST_CASE("what a kernel costs is counted when somebody asks") {
  Words words(2 * kThreads, 2 * kThreads);
  Module module(kernel_of("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+128];\n"
                          "bar.sync 0;\nadd.s32 %r1, %r1, %r2;\n"
                          "mad.lo.s32 %r0, %r0, 2, 0;\nmul.wide.u32 %rd1, %r0, 4;\n"
                          "add.s64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r1;"),
                words.memory);
  const std::uint64_t address = words.address();
  std::vector<std::byte> parameters(sizeof address);
  std::memcpy(parameters.data(), &address, sizeof address);
  Kernel& kernel = module.kernel("k");
  for (const Machine::Warps warps : {Machine::Warps::Free, Machine::Warps::Locked}) {
    kernel.cost = {};
    for (const bool counts : {false, true}) {
      Machine machine(words.memory, 1, warps);
      if (counts) machine.count_costs();
      machine.run(kernel, {0}, kThreads, parameters);
    }
    const ptx_machine::Cost& cost = kernel.cost;
    CHECK(cost.launches == 1);
    CHECK(cost.threads == kThreads);
    CHECK(cost.instructions == 13 * kThreads);
    CHECK(cost.barriers == 1);
    // Both loads are on their way when the sum wants them.
    CHECK(cost.loads == 2 * kThreads);
    CHECK(cost.waits == kThreads);
    CHECK(cost.most_loads == 2);
    // Lanes read words side by side, and write every second one.
    CHECK(cost.load_bytes == 2 * kThreads * 4);
    CHECK(cost.load_sectors == cost.load_bytes / 32);
    CHECK(cost.store_bytes == kThreads * 4);
    CHECK(cost.store_sectors == 2 * cost.store_bytes / 32);
  }
}

TEST_CASE("integer operations") {
  CHECK(result_of("mov.u32 %r2, -7;\ndiv.s32 %r1, %r2, 2;") == static_cast<std::uint32_t>(-3));
  CHECK(result_of("mov.u32 %r2, -2147483648;\ndiv.s32 %r1, %r2, -1;") == 0x80000000u);
  CHECK(result_of("mov.u32 %r2, 1;\nshl.b32 %r1, %r2, 32;") == 0);
  CHECK(result_of("mov.u32 %r2, 6;\nbfind.shiftamt.u32 %r1, %r2;") == 29);
  CHECK(result_of("mov.u32 %r2, 0;\nbfind.shiftamt.u32 %r1, %r2;") == 0xFFFFFFFFu);
  CHECK(result_of("mov.u32 %r2, -1;\nshr.s32 %r1, %r2, 40;") == 0xFFFFFFFFu);
  CHECK(result_of("mov.u32 %r2, 305419896;\nprmt.b32 %r1, %r2, 0, 291;") == 0x78563412u);
  CHECK(result_of("mov.u64 %rd2, -1;\nmul.hi.u64 %rd3, %rd2, %rd2;\ncvt.u32.u64 %r1, %rd3;") ==
        0xFFFFFFFEu);
  CHECK(result_of("mov.u32 %r2, -1;\nadd.cc.u32 %r3, %r2, 1;\naddc.u32 %r1, 5, 0;") == 6);
  CHECK(result_of("mov.u32 %r2, 0;\nsub.cc.u32 %r3, %r2, 1;\nsubc.u32 %r1, 5, 0;") == 4);
  CHECK(result_of("mov.u32 %r2, 240;\nbfe.s32 %r1, %r2, 4, 4;") == 0xFFFFFFFFu);
  CHECK(result_of("mov.u32 %r2, 255;\nbfi.b32 %r1, 0, %r2, 2, 3;") == 0xE3);
  CHECK(result_of("mov.u32 %r2, 12;\nmov.u32 %r3, 10;\nlop3.b32 %r1, %r2, %r3, 1, 150;") == 7);
  CHECK(result_of("setp.lt.s32 %p1, -1, 0;\nselp.u32 %r1, 3, 4, %p1;") == 3);
  CHECK(result_of("setp.lt.u32 %p1, -1, 0;\nselp.u32 %r1, 3, 4, %p1;") == 4);
  CHECK(result_of("mov.b64 %rd2, {1, 9};\nmov.b64 {_, %r1}, %rd2;") == 9);
}

TEST_CASE("conversions between numbers saturate and know NaN") {
  CHECK(result_of("cvt.rzi.s32.f32 %r1, 0f7F800000;") == 0x7FFFFFFFu);
  CHECK(result_of("cvt.rzi.s32.f32 %r1, 0f7FC00000;") == 0);
  CHECK(result_of("cvt.rzi.s64.f64 %rd2, 0d7FF8000000000000;\nshr.u64 %rd2, %rd2, 32;\n"
                  "cvt.u32.u64 %r1, %rd2;") == 0x80000000u);
  CHECK(result_of("cvt.rni.s32.f32 %r1, 0f40200000;") == 2);  // 2.5
  CHECK(result_of("cvt.rmi.s32.f64 %r1, 0dBFF8000000000000;") ==
        static_cast<std::uint32_t>(-2));  // -1.5
  CHECK(result_of("mov.u16 %h1, -1;\ncvt.s32.s8 %r1, %h1;") == 0xFFFFFFFFu);
  CHECK(result_of("mov.u16 %h1, -1;\ncvt.u32.u8 %r1, %h1;") == 0xFF);
}

TEST_CASE("comparisons of floating-point numbers with NaN") {
  const std::string nan = "mov.f32 %f1, 0f7FC00000;\n";
  for (const auto& [condition, holds] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"eq", 0},
                                                          {"ne", 0},
                                                          {"lt", 0},
                                                          {"equ", 1},
                                                          {"neu", 1},
                                                          {"ltu", 1},
                                                          {"geu", 1},
                                                          {"nan", 1},
                                                          {"num", 0}}) {
    INFO(condition);
    CHECK(result_of(nan + "setp." + condition +
                    ".f32 %p1, %f1, 0f3F800000;\n"
                    "selp.u32 %r1, 1, 0, %p1;") == holds);
  }
  // The only NaN of 32 bits; the other operand where a least one is asked for.
  CHECK(result_of(nan + "add.rn.f32 %f2, %f1, 0f3F800000;\nmov.b32 %r1, %f2;") == 0x7FFFFFFFu);
  CHECK(result_of(nan + "min.f32 %f2, %f1, 0f3F800000;\nmov.b32 %r1, %f2;") == 0x3F800000u);
}

TEST_CASE("roundings") {
  const std::string third = "div.MODE.f32 %f1, 0f3F800000, 0f40400000;\nmov.b32 %r1, %f1;";
  const auto rounded = [&](const std::string& mode) {
    std::string text = third;
    return result_of(text.replace(text.find("MODE"), 4, mode));
  };
  CHECK(rounded("rn") == 0x3EAAAAABu);
  CHECK(rounded("rm") == 0x3EAAAAAAu);
  CHECK(rounded("rp") == 0x3EAAAAABu);
  CHECK(rounded("rz") == 0x3EAAAAAAu);
}

TEST_CASE("functions are called with parameters and return results") {
  Words words(kThreads, 0);
  const std::string function =
      ".func (.param .align 8 .b8 back[16]) square(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
      "ld.param.b32 %r1, [x];\nmul.lo.s32 %r2, %r1, %r1;\nst.param.b32 [back+8], %r2;\n"
      "ret;\n}\n";
  run(kernel_of("{\n.param .b32 given;\n.param .align 8 .b8 got[16];\nst.param.b32 [given], %r0;\n"
                "call.uni (got),\nsquare,\n(\ngiven\n);\nld.param.b32 %r1, [got+8];\n}\n"
                "st.global.u32 [%rd1], %r1;",
                function),
      words);
  CHECK(words.read()[9] == 81);
}

TEST_CASE("threads of a block talk through shared memory and barriers") {
  // Each takes what its neighbour has put there.
  const std::string body =
      "mov.u32 %r1, shared;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r3, %r1, %r2;\n"
      "st.shared.u32 [%r3], %r0;\nbar.sync 0;\nxor.b32 %r4, %r2, 4;\nadd.s32 %r4, %r1, %r4;\n"
      "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd1], %r5;";
  for (const std::uint64_t seed : {1, 2, 3}) {
    Words words(kThreads, 0);
    run(kernel_of(body), words, 1, seed);
    const std::vector<std::uint32_t> found = words.read();
    for (std::uint32_t k = 0; k < kThreads; ++k) CHECK(found[k] == (k ^ 1));
  }
  std::string without = body;
  without.replace(without.find("bar.sync 0;"), 11, "");
  const std::string fault = fault_of(without);
  // Which of the two comes first is chance, and so is what is found.
  CHECK((fault.find("race on shared memory") != std::string::npos ||
         fault.find("nobody has written") != std::string::npos));
}

TEST_CASE("races on shared memory") {
  const std::string address = "mov.u32 %r1, shared;\n";
  CHECK(has(fault_of(address + "st.shared.u32 [%r1], %r0;"), "race on shared memory: byte 0"));
  // Bytes are told apart, and atomics do not race with each other ...
  CHECK(fault_of(address + "add.s32 %r2, %r1, %r0;\nst.shared.u8 [%r2], %r0;").empty());
  const std::string zero = "setp.ne.s32 %p1, %r0, 0;\n@!%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n";
  CHECK(fault_of(address + zero + "atom.shared.add.u32 %r2, [%r1], 1;").empty());
  // ... but with plain accesses.
  CHECK(has(fault_of(address + zero +
                     "atom.shared.add.u32 %r2, [%r1], 1;\n"
                     "ld.shared.u32 %r3, [%r1];"),
            "race on shared memory"));
  CHECK(has(fault_of(address + zero +
                     "ld.shared.u32 %r3, [%r1];\n@%p1 bra $L;\n"
                     "st.shared.u32 [%r1], 1;\n$L:"),
            "race on shared memory"));
}

TEST_CASE("what a barrier of a warp orders within it, it does not between warps") {
  const std::string address = "mov.u32 %r1, shared;\n";
  const std::string first =
      "setp.eq.s32 %p1, %r0, 0;\n@%p1 st.shared.u32 [%r1], 5;\n"
      "bar.warp.sync -1;\n";
  CHECK(fault_of(address + first +
                 "setp.gt.u32 %p2, %r0, 31;\n@%p2 bra $L;\n"
                 "ld.shared.u32 %r2, [%r1];\n$L:")
            .empty());
  CHECK_FALSE(fault_of(address + first + "ld.shared.u32 %r2, [%r1];").empty());
}

TEST_CASE("shuffles and votes") {
  Words words(kThreads, 0);
  run(kernel_of("shfl.sync.down.b32 %r1|%p1, %r0, 4, 31, -1;\n"
                "vote.sync.ballot.b32 %r2, %p1, -1;\nxor.b32 %r1, %r1, %r2;\n"
                "st.global.u32 [%rd1], %r1;"),
      words);
  const std::vector<std::uint32_t> found = words.read();
  for (std::uint32_t k = 0; k < kThreads; ++k) {
    CHECK(found[k] == ((k % 32 < 28 ? k + 4 : k) ^ 0x0FFFFFFFu));
  }
}

TEST_CASE("masks of lanes") {
  CHECK(result_of("mov.u32 %r1, %lanemask_le;") == 1);
  CHECK(result_of("mov.u32 %r1, %lanemask_ge;") == 0xFFFFFFFFu);
  Words words(kThreads, 0);
  run(kernel_of("mov.u32 %r1, %lanemask_le;\nmov.u32 %r2, %lanemask_ge;\n"
                "and.b32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;"),
      words);
  const std::vector<std::uint32_t> found = words.read();
  for (std::uint32_t k = 0; k < kThreads; ++k) CHECK(found[k] == 1u << k % 32);
}

TEST_CASE("sums of a warp") {
  Words words(kThreads, 0);
  run(kernel_of("redux.sync.add.s32 %r1, %r0, -1;\nst.global.u32 [%rd1], %r1;"), words);
  const std::vector<std::uint32_t> found = words.read();
  for (std::uint32_t k = 0; k < kThreads; ++k) CHECK(found[k] == (k < 32 ? 496 : 496 + 32 * 32));
}

TEST_CASE("two words are published at once") {
  Words words(kThreads, 0);
  run(kernel_of("and.b32 %r2, %r0, 1;\nsetp.ne.u32 %p1, %r2, 0;\nadd.u32 %r3, %r0, 1;\n"
                "@!%p1 st.relaxed.gpu.global.v2.u32 [%rd1], {%r0, %r3};\n"
                "@!%p1 ld.relaxed.gpu.global.v2.u32 {%r4, %r5}, [%rd1];\n"
                "@!%p1 st.global.u32 [%rd1+4], %r5;"),
      words);
  const std::vector<std::uint32_t> found = words.read();
  for (std::uint32_t k = 0; k < kThreads; ++k) CHECK(found[k] == k);
}

TEST_CASE("atomics of many blocks are all counted") {
  Words words(kThreads, kThreads);
  run(kernel_of("atom.global.add.u32 %r1, [%rd1], 1;"), words, 20);
  for (const std::uint32_t count : words.read()) CHECK(count == 20);
}

namespace {

/// Every thread adds one to word 1 under a lock, word 0. `section` begins behind `take`, with the
/// lock, and `on` is where those go that have not got it.
std::string counting(const std::string& before_section, const std::string& after_section) {
  return kernel_of(
      "mov.u32 %r5, 0;\nTRY:\natom.global.exch.b32 %r1, [%rd0], 1;\n"
      "setp.ne.u32 %p1, %r1, 0;\n" +
      before_section +
      "ld.volatile.global.u32 %r2, [%rd0+4];\nadd.u32 %r2, %r2, 1;\n"
      "st.volatile.global.u32 [%rd0+4], %r2;\n"
      "atom.global.exch.b32 %r1, [%rd0], 0;\n" +
      after_section);
}
/// The lock is given back inside of the loop that tries it, and behind that loop.
std::string lock_in_loop() {
  return counting("@%p1 bra NEXT;\n",
                  "mov.u32 %r5, 1;\nNEXT:\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra TRY;\n");
}
std::string lock_behind_loop() {
  return counting("@%p1 bra TRY;\n", "");
}

}  // namespace

TEST_CASE("threads of a locked warp that wait for each other wait for ever") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Machine::Warps warps : {Machine::Warps::Free, Machine::Warps::Locked}) {
      Words words(kThreads, kThreads);
      run(lock_in_loop(), words, 3, seed, warps);
      CHECK(words.read()[1] == 3 * kThreads);
    }
    Words words(kThreads, kThreads);
    run(lock_behind_loop(), words, 3, seed);
    CHECK(words.read()[1] == 3 * kThreads);
    CHECK_THROWS_WITH(run(lock_behind_loop(), words, 3, seed, Machine::Warps::Locked),
                      Catch::Contains("the launch does not end"));
  }
}

TEST_CASE("threads of a locked warp meet again behind branches, loops and calls") {
  // Each thread goes round %r0 times, by odd and even ways; then all of them vote.
  const std::string rounds =
      "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nROUND:\nsetp.ge.u32 %p1, %r2, %r0;\n@%p1 bra OUT;\n"
      "and.b32 %r4, %r2, 1;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra EVEN;\n"
      "add.u32 %r3, %r3, 10;\nbra.uni BOTH;\nEVEN:\nadd.u32 %r3, %r3, 1;\nBOTH:\n"
      "add.u32 %r2, %r2, 1;\nbra.uni ROUND;\nOUT:\n"
      "setp.gt.u32 %p3, %r0, 5;\nvote.sync.ballot.b32 %r5, %p3, -1;\nbar.sync 0;\n"
      "popc.b32 %r5, %r5;\nmul.lo.u32 %r5, %r5, 1000;\nadd.u32 %r3, %r3, %r5;\n"
      "st.global.u32 [%rd1], %r3;\n";
  for (const Machine::Warps warps : {Machine::Warps::Free, Machine::Warps::Locked}) {
    Words words(kThreads, 0);
    run(kernel_of(rounds), words, 1, 1, warps);
    const std::vector<std::uint32_t> found = words.read();
    for (std::uint32_t k = 0; k < kThreads; ++k) {
      CHECK(found[k] == k / 2 * 10 + (k + 1) / 2 + (k < 32 ? 26 : 32) * 1000);
    }
  }
}

TEST_CASE("divergent barriers are faults") {
  const std::string odd = "and.b32 %r1, %r0, 1;\nsetp.eq.s32 %p1, %r1, 1;\n";
  CHECK(has(fault_of(odd + "@%p1 bra $L;\nbar.sync 0;\n$L:"), "divergent barrier in block 0 of k"));
  CHECK(has(fault_of(odd + "@%p1 bra $L;\nbar.sync 0;\nbra $M;\n$L:\nbar.sync 0;\n$M:"),
            "divergent barrier"));
}

TEST_CASE("misaligned accesses are faults") {
  const std::string message = fault_of("ld.global.u32 %r1, [%rd0+2];");
  CHECK(has(message, "not aligned"));
  CHECK(has(message, "ld.global.u32 %r1, [%rd0+2]"));
  CHECK(has(fault_of("ld.global.v2.u32 {%r1, %r2}, [%rd0+4];"), "not aligned"));
  CHECK(has(fault_of("st.shared.u16 [shared+1], 0;"), "not aligned"));
}

TEST_CASE("accesses outside of what there is are faults") {
  const std::string message = fault_of("ld.global.u32 %r1, [%rd1+4];");
  CHECK(has(message, "no block of device memory that is in use"));
  CHECK(has(message, "in thread 63 of block 0 of k"));
  CHECK(has(fault_of("st.global.u32 [%rd1+-4], %r0;"), "in no block of device memory"));
  CHECK(has(fault_of("ld.global.u32 %r1, [0];"), "in no block of device memory"));
  CHECK(has(fault_of("st.shared.u32 [shared+256], 0;"), "of which the block has 256 bytes"));
  CHECK(has(fault_of("st.local.u32 [local+32], 0;"), "of which the thread has 32 bytes"));
  CHECK(has(fault_of("ld.param.u64 %rd2, [words+8];"), "of the parameters, which are 8 bytes"));
  CHECK(has(fault_of("ld.u32 %r1, [16];"), "local memory"));
}

TEST_CASE("memory that was given back is out of bounds") {
  Words words(kThreads, kThreads);
  words.memory.end_use(reinterpret_cast<std::byte*>(words.address()), kThreads * 4);
  CHECK_THROWS_AS(run(kernel_of("ld.global.u32 %r1, [%rd0];"), words), Fault);
}

TEST_CASE("reads of what nobody wrote are faults") {
  const std::string use = "\nadd.s32 %r2, %r1, 1;";
  CHECK(has(fault_of("ld.global.u32 %r1, [%rd1];" + use, kThreads - 1), "nobody has written"));
  CHECK(has(fault_of("ld.shared.u32 %r1, [shared];" + use), "nobody has written"));
  CHECK(
      has(fault_of("ld.shared.u32 %r1, [shared];\nmul.lo.s32 %r2, %r1, 6;"), "nobody has written"));
  CHECK(has(fault_of("ld.local.u32 %r1, [local+4];" + use), "nobody has written"));
  CHECK(has(fault_of("st.local.u32 [local], 0;\nld.local.v2.u32 {%r1, %r2}, [local];\n"
                     "add.s32 %r3, %r1, %r2;"),
            "nobody has written"));
  CHECK(has(fault_of("ld.shared.u64 %rd2, [shared];\nld.global.u32 %r1, [%rd2];"),
            "nobody has written"));
  CHECK(has(fault_of("st.local.u16 [local], 0;\nld.local.u32 %r1, [local];\n"
                     "st.relaxed.gpu.global.u32 [%rd0], %r1;"),
            "nobody has written"));
  CHECK(has(fault_of("st.relaxed.gpu.global.u32 [%rd0], %r1;"), "nobody has written"));
  CHECK(has(fault_of("or.b32 %r1, %r2, 1;\nst.relaxed.gpu.global.u32 [%rd0], %r1;"),
            "nobody has written"));
  CHECK(has(fault_of("setp.eq.s32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd0], 0;"),
            "nobody has written"));
  CHECK(has(fault_of("st.shared.u16 [shared], 0;\natom.shared.add.u32 %r1, [shared], 1;"),
            "nobody has written"));
}

TEST_CASE("what nobody wrote may be moved, and stays so") {
  const std::string use = "\nadd.s32 %r8, %r7, 1;";
  // Byte 0 is written and the other ones are not.
  const std::string load = "st.local.u8 [local], 5;\nld.local.u32 %r1, [local];\n";
  const std::vector<std::string> moves = {
      "mov.b32 %r7, %r1;",
      "prmt.b32 %r7, %r1, 0, 0x4441;",
      "shfl.sync.up.b32 %r7, %r1, 1, 0, -1;",
      "shl.b32 %r7, %r1, 8;",
      "mul.lo.s32 %r7, %r1, 256;",
      "mul.lo.u32 %r7, 256, %r1;",
      "mul.wide.u32 %rd2, %r1, 256;\ncvt.u32.u64 %r7, %rd2;",
      "mul.wide.s32 %rd2, %r1, 2;\nmov.b64 {%r6, %r7}, %rd2;",
      "cvt.u16.u32 %h1, %r1;\nmul.wide.u16 %r7, %h1, 256;",
      "shr.u32 %r7, %r1, 8;",
      "bfe.u32 %r7, %r1, 8, 8;",
      "bfi.b32 %r7, %r1, 0, 4, 16;",
      "shf.r.wrap.b32 %r7, 0, %r1, 16;",
      "and.b32 %r7, %r1, 256;",
      "or.b32 %r7, %r1, 1;",
      "xor.b32 %r7, %r1, %r1;",
      "not.b32 %r7, %r1;",
      "lop3.b32 %r7, %r1, 0, 0, 240;",
      "selp.b32 %r7, 0, %r1, %p1;",
      "cvt.u16.u32 %h1, %r1;\ncvt.u32.u16 %r7, %h1;",
      "mov.b32 {%h1, %h2}, %r1;\nmov.b32 %r7, {%h2, %h1};",
      "mov.b64 %rd2, {0, %r1};\nmov.b64 {%r6, %r7}, %rd2;",
      "st.shared.u32 [shared], %r1;\nbar.sync 0;\nld.shared.u32 %r7, [shared];",
      "st.local.u32 [local+4], %r1;\nld.local.u32 %r7, [local+4];",
      "st.global.u32 [%rd1], %r1;\nld.global.u32 %r7, [%rd1];"};
  for (const std::string& move : moves) {
    INFO(move);
    const std::string body = "setp.ne.s32 %p1, 0, 0;\n" + load + move;
    if (move.find("shared") == std::string::npos) CHECK(fault_of(body).empty());
    CHECK_FALSE(fault_of(body + use).empty());
  }
  // What is left of it is written.
  for (const std::string move :
       {"prmt.b32 %r7, %r1, 0, 0x4440;", "and.b32 %r7, %r1, 255;", "shl.b32 %r7, %r1, 24;",
        "mul.lo.s32 %r7, %r1, 16777216;",
        "mul.wide.u32 %rd2, %r1, 256;\nmov.b64 {%r7, %r6}, %rd2;\nand.b32 %r7, %r7, 65280;",
        "bfe.u32 %r7, %r1, 0, 8;", "cvt.u32.u8 %r7, %r1;", "or.b32 %r7, %r1, -256;",
        "bfi.b32 %r7, %r1, 0, 0, 8;", "lop3.b32 %r7, %r1, 255, 0, 192;"}) {
    INFO(move);
    CHECK(fault_of(load + move + use).empty());
  }
}

TEST_CASE("what is not known is a fault before anything runs") {
  CHECK(has(fault_of("fly.u32 %r1, %r2;"), "the instruction `fly.u32` is not known"));
  CHECK(has(fault_of("mov.u32 %r1, %r99;"), "the operand `%r99` is not known"));
  CHECK(has(fault_of("mov.u32 %r1, %clock;"), "the operand `%clock` is not known"));
}

TEST_CASE("generic addresses lead to the memory that they come from") {
  Words words(kThreads, 0);
  run(kernel_of("cvta.local.u64 %rd2, local;\nst.u32 [%rd2], %r0;\nld.local.u32 %r1, [local];\n"
                "mov.u64 %rd3, shared;\ncvta.shared.u64 %rd4, %rd3;\n"
                "mul.wide.u32 %rd5, %r0, 4;\nadd.s64 %rd6, %rd4, %rd5;\nst.u32 [%rd6], %r1;\n"
                "ld.u32 %r2, [%rd6];\nst.u32 [%rd1], %r2;"),
      words);
  CHECK(words.read()[5] == 5);
}
