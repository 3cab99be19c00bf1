// Programs that are begun anew with a record of what they have read and written.
#include "machine/effect_record.hpp"

#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "machine_support.hpp"
#include "temporary_file.hpp"

namespace {

using vinterp::EffectRecord;
using vinterp::MachineOptions;
using vinterp::Outcome;
using vinterp::RunResult;
using vinterp_test::content_of;
using vinterp_test::file_with;

/// Runs one program after another on the same streams.
class Session {
 public:
  explicit Session(const std::string& input, std::size_t memory = cvl::Heap::kUnlimited)
      : backend_(options(memory)),
        out_(file_with("")),
        err_(file_with("")),
        io_(backend_, {.recorded = true},
            vinterp::StreamTable(file_with(input).release(), ::dup(out_.get()),
                                 ::dup(err_.get()))) {}

  RunResult run(const std::string& body, std::uint64_t work = MachineOptions::kUnlimitedWork) {
    vcode::Diagnostics diagnostics;
    const auto program = vinterp::load_program(
        std::make_shared<const vcode::Source>("test", "FUNC MAIN\n" + body + "\nRET\n"),
        diagnostics, {});
    REQUIRE(program);
    vinterp::Machine machine(*program, vinterp::load_constants(*program, backend_, diagnostics),
                             backend_, io_, {.most_work = work});
    const RunResult result = machine.run();
    results.clear();
    for (const cvl::Value& value : machine.stack()) {
      results += vinterp::shortened(backend_, value, 100);
    }
    return result;
  }
  EffectRecord& record() { return *io_.record(); }
  std::string written() { return content_of(out_.get()); }

  std::string results;  // of the last run that returned

 private:
  static cvl::cpu::CpuOptions options(std::size_t memory) {
    cvl::cpu::CpuOptions options;
    options.threads = 1;
    options.memory_limit = memory;
    return options;
  }

  cvl::cpu::CpuBackend backend_;
  vinterp::FileDescriptor out_, err_;
  vinterp::IoOperations io_;
};

const std::string kReads = "READ INT POP 2 0";
const std::string kAdds = "CONST INT 1 + INT";
std::string writes(const std::string& value, const std::string& stream = "1") {
  return value + " CONST INT " + stream + " FWRITE INT POP 2 0";
}

TEST_CASE("what has been read comes again, and what has been written is not written again") {
  Session session("(7) (8)");
  const std::string program = kReads + "\n" + kAdds + "\n" + writes("COPY 1 0") + "\n" + kReads;
  const std::uint64_t instruction = MachineOptions::kInstructionWork + 1;
  CHECK(session.run(program, instruction).outcome == Outcome::OutOfWork);  // at FWRITE
  CHECK(session.written().empty());
  for (const auto need : {EffectRecord::Need::Again, EffectRecord::Need::LastTime}) {
    session.record().begin_anew(need);
    CHECK(session.run(program).outcome == Outcome::Returned);
    CHECK(session.results == "( 8 )( 8 )");
    CHECK(session.written() == "( 8 )\n");
  }
  CHECK(!session.record().complete());
}

TEST_CASE("a program that does something else than before is stopped before it does it") {
  const std::string program = kReads + "\n" + writes("CONST INT 5");
  for (const std::string& other :
       {kReads + "\n" + writes("CONST INT 6"), kReads + "\n" + writes("CONST INT 5", "2"),
        writes("CONST INT 5"), kReads, kReads + "\n" + kReads}) {
    INFO(other);
    Session session("(7) (8)");
    session.run(program);
    session.record().begin_anew(EffectRecord::Need::Again);
    const RunResult departed = session.run(other);
    CHECK(departed.outcome == Outcome::Departed);
    CHECK(departed.failure->code == vcode::ErrorCode::Internal);
    CHECK(session.written() == "( 5 )\n");
    // The program itself goes on.
    session.record().begin_anew(EffectRecord::Need::LastTime);
    CHECK(session.run(program + "\n" + kReads).outcome == Outcome::Returned);
    CHECK(session.results == "( 7 )( 8 )");
    CHECK(session.written() == "( 5 )\n");
  }
}

TEST_CASE("an effect that failed fails again") {
  Session session("");
  const std::string program = writes("CONST INT 5") + "\n" + writes("CONST INT 5", "(1 1)");
  for (int i = 0; i < 3; ++i) {
    const RunResult failed = session.run(program);
    CHECK(failed.outcome == Outcome::Failed);
    CHECK(failed.failure->code == vcode::ErrorCode::NotAScalar);
    CHECK(session.record().last_failed());
    CHECK(session.written() == "( 5 )\n");
    session.record().begin_anew(EffectRecord::Need::Again);
  }
}

TEST_CASE("times that somebody has seen stay, others are measured anew") {
  Session session("");
  const std::string times = "START_TIMER STOP_TIMER";
  const std::string program = times + "\n" + times + "\n" + writes("COPY 1 0");
  session.run(program + "\n" + times);
  const std::string seen = session.written();
  session.record().begin_anew(EffectRecord::Need::Again);
  CHECK(session.run(program + "\n" + writes("COPY 1 0")).outcome == Outcome::Returned);
  CHECK(session.written() == seen + seen);
}

TEST_CASE("only so much is kept") {
  std::string numbers = "(";
  for (int i = 0; i < 1000; ++i) numbers += " 1";
  numbers += ") (2)";
  const std::size_t memory = std::size_t{48} << 10;
  const std::string program = kReads + "\n" + kReads;
  SECTION("a limited run ends, and what it has read comes again") {
    Session session(numbers, memory);
    CHECK(session.run(program, 1 << 20).outcome == Outcome::OutOfWork);
    session.record().begin_anew(EffectRecord::Need::Again);
    CHECK(session.run(program).outcome == Outcome::Returned);
    CHECK(session.results.ends_with("( 2 )"));
    CHECK(!session.record().complete());
  }
  SECTION("another run goes on") {
    Session session(numbers, memory);
    CHECK(session.run(program).outcome == Outcome::Returned);
    CHECK(!session.record().complete());
  }
  SECTION("most of it if the program holds it, too, and less if it does not") {
    numbers = numbers.substr(0, numbers.find('(', 1)) + numbers;
    Session session(numbers, 4 * memory);
    CHECK(session.run(program).outcome == Outcome::Returned);
    CHECK(session.record().complete());
    Session other(numbers, 4 * memory);
    CHECK(other.run(kReads + " POP 1 0\n" + kReads).outcome == Outcome::Returned);
    CHECK(!other.record().complete());
  }
}

}  // namespace
