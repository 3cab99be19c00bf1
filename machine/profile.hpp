// Where the time of a run goes: one row per operation, type and source function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/heap.hpp"
#include "machine/observer.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// Counts by instruction while the program runs, which costs a few additions; rows are made of
/// that only for the report.
class Profile final : public Observer {
 public:
  static constexpr std::size_t kDefaultRows = 40;

  /// `program` must outlive the profile.
  explicit Profile(const vcode::LinkedProgram& program);

  void after(const Step& step, double seconds) override;

  /// A table of at most `max_rows` rows, the most expensive first, in at most 100 columns; the sum
  /// of the others, totals, and memory and device statistics follow. `seconds`: wall-clock time of
  /// the run.
  std::string report(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                     double seconds, std::size_t max_rows = kDefaultRows) const;

  /// What the rows count.
  struct Cost {
    std::uint64_t calls = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
    void add(const Cost& other);
  };
  struct Row {
    vcode::Op op;
    vcode::Type type;
    std::uint32_t instruction;  // the first that contributes
    std::uint32_t function;
    std::uint32_t line;  // of the first instruction that contributes
    bool more_lines;     // others do, too
    Cost cost;
  };
  /// All rows with calls, the most expensive first.
  std::vector<Row> rows() const;
  /// The same by instruction.
  const std::vector<Cost>& costs() const { return costs_; }

 private:
  const vcode::LinkedProgram& program_;
  std::vector<Cost> costs_;  // by instruction
};

/// A row as the table shows it.
struct ProfileLine {
  std::string operation;
  std::string function;
  std::string line;
  Profile::Cost cost;
};

/// The table of a profile: the first `max_rows` of the rows, the sum of the others, and the total.
std::string profile_table(const std::vector<ProfileLine>& rows, std::size_t max_rows);
/// What follows it: the time of the run, memory and device statistics.
std::string profile_totals(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                           double seconds);

}  // namespace vinterp
