#include "neslc/bench/bench_command.hpp"

#include <fmt/format.h>

#include "machine/interrupt.hpp"
#include "neslc/bench/measure.hpp"
#include "neslc/bench/plot.hpp"
#include "neslc/bench/report.hpp"
#include "neslc/command/commands.hpp"

namespace neslc::bench {
int run_bench(Toplevel& top, const std::string& program, const Plan& plan, const Files& files) {
  vinterp::handle_signals();
  if (!program.empty()) {
    const int status = top.load(program, false);
    if (status != kOk || top.finished()) return status;
  }
  const cvl::Backend& backend = top.evaluator().backend();
  // The description names the number of threads.
  const bool one = plan.threads.size() == 1;
  Measurements measurements{
      plan, program, one ? backend.description() : std::string(backend.name()), {}};
  const int status = measure(top, plan, [&](Point point) {
    if (measurements.points.empty()) top.print(table_head());
    top.print(table_rows(point));
    measurements.points.push_back(std::move(point));
  });
  if (measurements.points.empty()) return status;
  top.print("\n" + growth_text(measurements));
  if (!files.plot.empty()) write_file(files.plot, plot(measurements));
  if (!files.data.empty()) {
    const bool as_json = files.data.ends_with(".json");
    write_file(files.data, as_json ? json(measurements) : csv(measurements));
  }
  return status;
}

}  // namespace neslc::bench
