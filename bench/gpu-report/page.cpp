#include "bench/gpu-report/page.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/core.h>

namespace gpu_report {
namespace {

constexpr int kSkipped = 77;          // exit status of tests
constexpr std::size_t kShown = 4000;  // characters of what a step wrote that has not passed

constexpr const char* kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>GPU report</title>\n"
    "<style>\n"
    "body { font-family: sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }\n"
    "table { border-collapse: collapse; margin: 1em 0; font-size: 90%; }\n"
    "th, td { padding: 0.15em 0.7em; border-bottom: 1px solid #ddd; text-align: right; }\n"
    "th:first-child, td:first-child { text-align: left; }\n"
    "figure { margin: 1em 0; }\n"
    "pre { background: #f6f6f6; padding: 0.7em; overflow-x: auto; }\n"
    "</style></head><body>\n";

std::string outcome(const DoneStep& done) {
  if (!done.ended) return "no time left";
  return is_skipped(*done.ended) ? "skipped: no device" : text_of(*done.ended);
}

}  // namespace

bool is_skipped(const Ended& ended) {
  return ended.how == Ended::How::Exited && ended.number == kSkipped;
}

Table steps_table(const std::vector<DoneStep>& done) {
  Table table({"step", "outcome", "seconds"});
  for (const DoneStep& one : done) {
    table.add({one.step.title, outcome(one),
               one.ended ? fmt::format("{:.1f}", one.ended->seconds) : "-"});
  }
  return table;
}

std::string page(const std::filesystem::path& folder, const std::vector<DoneStep>& done) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M", std::localtime(&now));
  std::string text = kHead;
  text += fmt::format("<h1>GPU report</h1>\n<p>{}</p>\n", date) + steps_table(done).html();
  for (const DoneStep& one : done) {
    const std::string section = contents(folder / (one.step.name + ".html"));
    const bool bad = one.ended && !one.ended->good() && !is_skipped(*one.ended);
    if (section.empty() && !bad) continue;
    text += fmt::format("<h2>{}</h2>\n", escaped(one.step.title));
    if (bad) {
      const std::string log = contents(folder / (one.step.name + ".log"));
      text += fmt::format("<p><b>{}.</b> What it wrote last:</p>\n<pre>{}</pre>\n",
                          escaped(outcome(one)),
                          escaped(log.substr(log.size() - std::min(log.size(), kShown))));
    }
    text += section;
  }
  return text + "</body></html>\n";
}

}  // namespace gpu_report
