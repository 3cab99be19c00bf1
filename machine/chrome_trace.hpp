// The run of a program over time, in the Chrome trace-event format (Perfetto, chrome://tracing).
//
// Complete events for vector operations and input/output, nested in complete events for function
// calls, and a counter track for the live bytes of the heap. Stack, control and constant
// instructions are left out: they take no time worth seeing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cvl/heap.hpp"
#include "machine/format.hpp"
#include "machine/observer.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// Keeps at most a given number of events: when there are more, the shorter half is dropped, and
/// from then on everything shorter than what was dropped.
class ChromeTrace final : public Observer {
 public:
  static constexpr std::size_t kDefaultEvents = 1'000'000;

  /// The references must outlive the trace. REQUIRES: max_events >= 2.
  ChromeTrace(const vcode::LinkedProgram& program, const cvl::Heap& heap,
              std::size_t max_events = kDefaultEvents);

  void after(const Step& step, double seconds) override;
  void enter_function(std::uint32_t function, std::uint32_t call) override;
  void leave_function(std::uint32_t function) override;

  /// Writes the JSON text; to be called once, after the run. Functions that were not left end now.
  /// Returns false when the sink refused text.
  bool write(const TextSink& sink);

  /// Events that were dropped to stay within the bound. The text says so too.
  std::uint64_t dropped() const { return dropped_; }
  /// The longest event that was dropped.
  double longest_dropped_seconds() const { return static_cast<double>(longest_dropped_) * 1e-9; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Times in nanoseconds since the beginning.
  struct Event {
    std::int64_t start;
    std::int64_t duration;
    std::int64_t elements;
    std::int64_t bytes;
    std::uint64_t live_bytes;
    std::uint32_t place;  // instruction, or function of a call
    bool is_call;
  };
  struct OpenCall {
    std::int64_t start;
    std::uint32_t function;
  };

  std::int64_t now() const;
  void add(const Event& event);
  void drop_shorter_half();
  std::string event_text(const Event& event) const;
  /// The live bytes at the end of an event.
  static std::string counter_text(const Event& event);

  const vcode::LinkedProgram& program_;
  const cvl::Heap& heap_;
  std::size_t max_events_;
  Clock::time_point begin_ = Clock::now();
  std::vector<Event> events_;
  std::vector<OpenCall> open_;
  std::int64_t shortest_kept_ = 0;
  std::int64_t longest_dropped_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace vinterp
