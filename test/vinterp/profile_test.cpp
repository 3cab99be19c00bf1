#include "machine/profile.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "machine/report_text.hpp"
#include "machine/statistics.hpp"
#include "observed_program.hpp"

namespace {

using testing::contains;
using vinterp_test::lines_of;
using vinterp_test::linked;
using vinterp_test::step_at;

const char* const kProgram =
    "FUNC MAIN_1\n"
    "CONST INT 1 CONST INT 2\n"
    "+ INT\n"
    "CALL A_VERY_LONG_NAME_OF_A_FUNCTION_INDEED\n"
    "RET\n"
    "FUNC A_VERY_LONG_NAME_OF_A_FUNCTION_INDEED\n"
    "COPY 1 0 + INT\n"
    "COPY 1 0 + INT\n"
    "I_TO_F\n"
    "RET\n";

TEST_CASE("costs are added up by operation, type and function") {
  const vcode::LinkedProgram program = linked(kProgram);
  vinterp::Profile profile(program);
  profile.after(step_at(program, 2, 10, 120), 0.5);
  profile.after(step_at(program, 6, 10, 120), 1.0);
  profile.after(step_at(program, 6, 30, 360), 1.0);
  profile.after(step_at(program, 8, 30, 360), 1.0);
  profile.after(step_at(program, 9, 30, 360), 0.25);

  const auto rows = profile.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].op == vcode::Op::Add);
  CHECK(rows[0].function == 1);
  CHECK(rows[0].line == 7);
  CHECK(rows[0].more_lines);
  CHECK(rows[0].cost.calls == 3);
  CHECK(rows[0].cost.elements == 70);
  CHECK(rows[0].cost.bytes == 840);
  CHECK(rows[0].cost.seconds == 3.0);
  CHECK(rows[1].function == 0);
  CHECK_FALSE(rows[1].more_lines);
  CHECK(rows[2].op == vcode::Op::IntToFloat);
}

TEST_CASE("the table is aligned and fits 100 columns") {
  const vcode::LinkedProgram program = linked(kProgram);
  vinterp::Profile profile(program);
  profile.after(step_at(program, 2, 1, 12), 3e-7);
  for (int i = 0; i < 1000; ++i) {
    profile.after(step_at(program, 6, std::int64_t{1} << 40, std::int64_t{1} << 43), 123.4);
  }
  cvl::HeapStatistics heap;
  heap.allocations = 8;
  heap.recycled = 6;
  heap.peak_live_bytes = 3 << 20;
  const std::string report = profile.report(heap, {}, 123'400);
  const auto lines = lines_of(report);
  REQUIRE(lines.size() > 4);
  CHECK(contains(lines[0], "operation"));
  CHECK(contains(lines[1], "+ INT"));
  CHECK(contains(lines[1], "A_VERY_LO..ON_INDEED"));
  CHECK(contains(lines[1], "100.0%"));
  CHECK(contains(lines[3], "total"));
  for (std::size_t i = 0; i < 4; ++i) CHECK(lines[i].size() == lines[0].size());
  for (const std::string& line : lines) CHECK(line.size() <= 100);
  CHECK(contains(report, "6 (75.0%)"));
  CHECK(contains(report, "3.0 MiB"));
  CHECK_FALSE(contains(report, "device"));
}

TEST_CASE("rows beyond the limit are summed up") {
  const vcode::LinkedProgram program = linked(kProgram);
  vinterp::Profile profile(program);
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    profile.after(step_at(program, at, 1, 4), 1.0);
  }
  const std::size_t all = profile.rows().size();
  REQUIRE(all > 2);
  const auto lines = lines_of(profile.report({}, {}, 10, 2));
  CHECK(contains(lines[3], std::to_string(all - 2) + " more"));
  CHECK(contains(lines[4], "total"));
}

TEST_CASE("an empty run has an empty table") {
  const vcode::LinkedProgram program = linked(kProgram);
  const vinterp::Profile profile(program);
  CHECK(profile.rows().empty());
  CHECK(contains(profile.report({}, {}, 0), "total"));
}

TEST_CASE("statistics of a run") {
  const vcode::LinkedProgram program = linked(kProgram);
  vinterp::Statistics statistics(program);
  statistics.after(step_at(program, 0), 1.0);
  statistics.after(step_at(program, 2, 1000, 12'000), 0.25);
  statistics.after(step_at(program, 9, 500, 6'000), 0.25);
  cvl::HeapStatistics heap;
  heap.takeovers = 17;
  const std::string report = statistics.report(heap, {}, 2.0);
  CHECK(contains(report, "instructions              3\n"));
  CHECK(contains(report, "vector operations         2\n"));
  CHECK(contains(report, "elements                  1500\n"));
  CHECK(contains(report, "longest vector            1000\n"));
  CHECK(contains(report, "operands taken over       17\n"));
  CHECK(contains(report, "time in vector operations 500.00 ms (25.0%)\n"));
  CHECK(contains(report, "time                      2.000 s\n"));

  cvl::DeviceCounters device;
  device.launches = 5;
  device.uploads = 2;
  device.upload_bytes = 2048;
  CHECK(contains(statistics.report(heap, device, 2.0), "device launches           5\n"));
  CHECK(contains(statistics.report(heap, device, 2.0), "2 (2.0 KiB)\n"));
}

TEST_CASE("numbers as reports show them") {
  CHECK(vinterp::format_count(0) == "0");
  CHECK(vinterp::format_count(9'999'999) == "9999999");
  CHECK(vinterp::format_count(12'345'678) == "12.3 M");
  CHECK(vinterp::format_count(999'900'000) == "1 G");
  CHECK(vinterp::format_count(UINT64_MAX) == "18.4 E");
  CHECK(vinterp::format_seconds(0) == "0.00 us");
  CHECK(vinterp::format_seconds(0.0123) == "12.30 ms");
  CHECK(vinterp::format_seconds(123.4567) == "123.457 s");
  CHECK(vinterp::format_seconds(12'345.6) == "12346 s");
  CHECK(vinterp::format_share(1, 3) == "33.3%");
  CHECK(vinterp::format_share(0, 0) == "0.0%");
  CHECK(vinterp::fitted("short", 8) == "short");
  CHECK(vinterp::fitted("123456789", 8) == "123..789");
}

}  // namespace
