// Work that a thread of its own does ahead of time, in case that its result will be wanted.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace vinterp {

/// Makes a `Result`, on a thread of its own or, where that is not possible, in the caller's. Owned
/// and used by one thread.
template <class Result>
class Ahead {
 public:
  /// `make` is given what tells it to end early, because nobody wants the result any more. What it
  /// uses must outlive this object, and nobody else may change it meanwhile.
  explicit Ahead(std::function<Result(const std::function<bool()>& stop)> make)
      : make_(std::move(make)) {}
  /// Waits until the thread has seen that it is to end.
  ~Ahead() {
    unwanted_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// Is the result there? The first call begins to make it. Never true where the thread has failed.
  bool ready() {
    if (!begun_) begin();
    return made_.load(std::memory_order_acquire);
  }

  /// The result: waits for it, and makes it in this thread if the other one has failed, as memory
  /// may have been lacking for both. Throws what `make` does. To be called once.
  Result take() {
    if (thread_.joinable()) thread_.join();
    if (made_.load(std::memory_order_acquire)) return std::move(*result_);
    return make_([] { return false; });
  }

 private:
  void begin() {
    begun_ = true;
    try {
      thread_ = std::thread([this] {
        try {
          result_.emplace(make_([this] { return unwanted_.load(std::memory_order_relaxed); }));
          made_.store(true, std::memory_order_release);
        } catch (...) {  // take() meets it again, if it is still so
        }
      });
    } catch (const std::system_error&) {  // GCOVR_EXCL_LINE: no thread can be had
    } catch (const std::bad_alloc&) {     // GCOVR_EXCL_LINE: as above
    }
  }

  std::function<Result(const std::function<bool()>& stop)> make_;
  std::optional<Result> result_;
  std::atomic<bool> made_{false}, unwanted_{false};
  bool begun_ = false;
  std::thread thread_;
};

}  // namespace vinterp
