#include "machine/chrome_trace.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "machine/json.hpp"
#include "machine/report_text.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kTextPerPiece = 64 * 1024;

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-3;
}

}  // namespace

ChromeTrace::ChromeTrace(const vcode::LinkedProgram& program, const cvl::Heap& heap,
                         std::size_t max_events)
    : program_(program), heap_(heap), max_events_(max_events) {}

std::int64_t ChromeTrace::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
}

void ChromeTrace::after(const Step& step, double seconds) {
  if (!step.op->is_vector_op() && !step.ran_kernel && step.op->family != vcode::Family::Io) return;
  const auto duration = static_cast<std::int64_t>(seconds * 1e9);
  add({now() - duration, duration, step.elements, step.bytes, heap_.statistics().live_bytes,
       step.instruction, false});
}

void ChromeTrace::enter_function(std::uint32_t function, std::uint32_t) {
  open_.push_back({now(), function});
}

void ChromeTrace::leave_function(std::uint32_t) {
  if (open_.empty()) return;
  const OpenCall call = open_.back();
  open_.pop_back();
  add({call.start, now() - call.start, 0, 0, heap_.statistics().live_bytes, call.function, true});
}

void ChromeTrace::add(const Event& event) {
  if (event.duration < shortest_kept_) {
    ++dropped_;
    longest_dropped_ = std::max(longest_dropped_, event.duration);
    return;
  }
  if (events_.size() == max_events_) drop_shorter_half();
  events_.push_back(event);
}

void ChromeTrace::drop_shorter_half() {
  const auto longer = [](const Event& a, const Event& b) { return a.duration > b.duration; };
  const auto kept_end = events_.begin() + static_cast<std::ptrdiff_t>(max_events_ / 2);
  std::nth_element(events_.begin(), kept_end, events_.end(), longer);
  shortest_kept_ = kept_end->duration;
  longest_dropped_ = std::max(longest_dropped_, kept_end->duration);
  dropped_ += static_cast<std::uint64_t>(events_.end() - kept_end);
  events_.erase(kept_end, events_.end());
}

bool ChromeTrace::write(const TextSink& sink) {
  while (!open_.empty()) leave_function(open_.back().function);
  // An outer event begins no later than what it contains, and is the longer one.
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });

  std::string text = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\n"
      "\"otherData\":{{\"program\":{},\"dropped_events\":{},\"longest_dropped_us\":{:.3f}}},\n"
      "\"traceEvents\":[\n"
      "{{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{}}}}},\n"
      "{{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{{\"name\":\"host\"}}}"
      "}",
      json_string(program_.source->name()), dropped_, microseconds(longest_dropped_),
      json_string("vinterp " + program_.source->name()));
  std::uint64_t live_bytes = UINT64_MAX;
  for (const Event& event : events_) {
    text += event_text(event);
    if (!event.is_call && event.live_bytes != live_bytes) {
      text += counter_text(event);
      live_bytes = event.live_bytes;
    }
    if (text.size() < kTextPerPiece) continue;
    if (!sink(text)) return false;
    text.clear();
  }
  text += "\n]}\n";
  return sink(text);
}

std::string ChromeTrace::event_text(const Event& event) const {
  const double start = microseconds(event.start);
  const double duration = microseconds(event.duration);
  if (event.is_call) {
    const vcode::LinkedFunction& function = program_.functions[event.place];
    return fmt::format(
        ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"cat\":\"function\",\"name\":{},"
        "\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{\"line\":{}}}}}",
        json_string(function.name), start, duration, function.name_span.line);
  }
  const vcode::Instruction& code = program_.code[event.place];
  return fmt::format(
      ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"cat\":\"operation\",\"name\":{},"
      "\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{\"function\":{},\"line\":{},"
      "\"elements\":{},\"bytes\":{}}}}}",
      json_string(operation_name(code, program_)), start, duration,
      json_string(program_.function_at(event.place).name), code.span.line, event.elements,
      event.bytes);
}

std::string ChromeTrace::counter_text(const Event& event) {
  return fmt::format(
      ",\n{{\"ph\":\"C\",\"pid\":1,\"name\":\"heap\",\"ts\":{:.3f},"
      "\"args\":{{\"live bytes\":{}}}}}",
      microseconds(event.start + event.duration), event.live_bytes);
}

}  // namespace vinterp
