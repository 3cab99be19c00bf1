// A backend that runs every operation and every kernel on two vector libraries and checks that they
// agree (--compare).
//
// Values live in the first library. The second one gets copies of the operands of each of them,
// so that a difference shows where it comes from and goes no further. INT, BOOL and
// descriptors must be equal; FLOAT may differ as far as rounding allows (tolerance()).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cvl/backend.hpp"

namespace vinterp {

class CompareBackend final : public cvl::Backend {
 public:
  /// Both with the same widths and seed. `stop` (--compare=trace): the first operation whose
  /// results differ, or the first kernel, fails and shows its operands.
  CompareBackend(std::unique_ptr<cvl::Backend> first, std::unique_ptr<cvl::Backend> second,
                 bool stop);

  std::string_view name() const override { return "compare"; }
  std::string description() const override;
  cvl::Widths widths() const override { return first_->widths(); }
  cvl::Heap& heap() override { return first_->heap(); }
  int threads() const override { return first_->threads(); }
  void for_parts(int parts, const std::function<void(int)>& body) override {
    first_->for_parts(parts, body);
  }
  void execute(vcode::Op op, cvl::Type type, cvl::Value* operands, cvl::Value* results) override;
  void expect(std::vector<const vcode::Kernel*> kernels) override;
  std::unique_ptr<cvl::PreparedKernel> prepare(const vcode::Kernel& kernel) override;
  std::int64_t kernels_pay_after() const override;
  bool run(cvl::PreparedKernel& kernel, cvl::Value* operands, cvl::Value* results) override;
  cvl::Vector upload(cvl::Type type, const void* elements, std::int64_t length) override {
    return first_->upload(type, elements, length);
  }
  cvl::Vector upload_characters(std::string_view characters) override {
    return first_->upload_characters(characters);
  }
  cvl::Ref<cvl::Buffer> room_for_upload(std::size_t bytes) override {
    return first_->room_for_upload(bytes);
  }
  cvl::Vector adopt(cvl::Type type, cvl::Ref<cvl::Buffer> elements, std::int64_t length) override {
    return first_->adopt(type, std::move(elements), length);
  }
  cvl::Vector adopt_characters(cvl::Ref<cvl::Buffer> characters, std::int64_t length) override {
    return first_->adopt_characters(std::move(characters), length);
  }
  void download(const cvl::Vector& vector, std::int64_t begin, std::int64_t count,
                void* elements) override {
    first_->download(vector, begin, count, elements);
  }
  void seed(std::uint64_t seed) override;
  void synchronize() override { first_->synchronize(); }
  cvl::DeviceCounters counters() const override { return second_->counters(); }

  /// Operations, bytes and times of the two side by side, and which operations differed.
  std::string report() const;
  std::uint64_t differences() const { return differences_; }

 private:
  struct Row {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;  // of operands and results
    double seconds[2] = {0, 0};
    std::uint64_t differing = 0;
    std::string example;  // of a difference
  };
  struct Task;
  /// What a task did on one library.
  struct Run;
  struct BothPrepared;

  /// False: one of the libraries leaves the task to others.
  bool run_on_both(const Task& task, const std::vector<cvl::Value>& operands, cvl::Value* results);
  Run run_on(cvl::Backend& backend, const Task& task, std::vector<cvl::Value> operands);
  cvl::Vector copy(const cvl::Vector& vector);
  cvl::Value copy(const cvl::Value& value);
  std::uint64_t bytes_of(const cvl::Value& value) const;
  std::string difference(const Task& task, const Run& a, const Run& b);
  [[noreturn]] void stop_at(const Task& task, const std::vector<cvl::Value>& operands,
                            const std::string& difference);

  std::unique_ptr<cvl::Backend> first_, second_;
  bool stop_;
  std::uint64_t differences_ = 0;
  std::map<std::string, Row> rows_;
};

}  // namespace vinterp
