// A vector library for tests of everything around the machine: it holds vectors and descriptors in
// host memory, and can do nothing with them but what input, output and traces need.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/host_memory.hpp"

namespace vinterp_test {

class HostBackend final : public cvl::Backend {
 public:
  explicit HostBackend(cvl::Widths widths = {}, std::size_t limit = cvl::Heap::kUnlimited)
      : widths_(widths), heap_(memory_, limit) {}

  std::string_view name() const override { return "host"; }
  std::string description() const override { return "host memory, for tests"; }
  cvl::Widths widths() const override { return widths_; }
  cvl::Heap& heap() override { return heap_; }

  void execute(vcode::Op op, cvl::Type, cvl::Value* operands, cvl::Value* results) override {
    if (op == vcode::Op::MakeSegdes) {
      results[0] = make_descriptor(operands[0].vector());
    } else if (op == vcode::Op::Lengths) {
      results[0] = lengths_of(operands[0].segdes());
    } else {
      throw std::logic_error("the test backend does not run vector operations");
    }
  }

  cvl::Vector upload(cvl::Type type, const void* elements, std::int64_t length) override {
    cvl::Vector vector;
    vector.type = type;
    vector.length = length;
    const std::size_t bytes = static_cast<std::size_t>(length) * widths_.element_bytes(type);
    std::byte* target = vector.payload;
    if (!cvl::Vector::fits_inline(length, widths_.element_bytes(type))) {
      vector.form = cvl::Form::Dense;
      vector.buffer = heap_.allocate(bytes);
      target = vector.buffer->data;
    }
    if (bytes != 0) std::memcpy(target, elements, bytes);
    return vector;
  }

  void download(const cvl::Vector& vector, std::int64_t begin, std::int64_t count,
                void* elements) override {
    if (begin < 0 || count < 0 || begin + count > vector.length) {
      throw std::logic_error("download outside the vector");
    }
    greatest_download = std::max(greatest_download, count);
    const std::size_t width = widths_.element_bytes(vector.type);
    auto* target = static_cast<std::byte*>(elements);
    for (std::int64_t i = 0; i < count; ++i, target += width) {
      const auto at = static_cast<std::size_t>(begin + i);
      if (vector.form == cvl::Form::Progression) {
        const std::int64_t number =
            vector.progression_start() + (begin + i) * vector.progression_step();
        std::memcpy(target, &number, width);  // little endian: the low bytes come first
      } else if (vector.form == cvl::Form::Constant) {
        std::memcpy(target, vector.payload, width);
      } else {
        const std::byte* source =
            vector.form == cvl::Form::Dense ? vector.buffer->data : vector.payload;
        std::memcpy(target, source + at * width, width);
      }
    }
  }

  int threads() const override { return host_threads; }
  void for_parts(int parts, const std::function<void(int)>& body) override {
    const auto take_some = [&](int thread) {
      for (int part = thread; part < parts; part += host_threads) body(part);
    };
    std::vector<std::thread> running;
    for (int thread = 1; thread < host_threads; ++thread) running.emplace_back(take_some, thread);
    take_some(0);
    for (std::thread& thread : running) thread.join();
  }

  void seed(std::uint64_t) override {}
  void synchronize() override {}

  // ---- shorthands ----

  /// An INT vector of the run's width.
  cvl::Vector ints(const std::vector<std::int64_t>& numbers) {
    if (widths_.int_bytes == 8) return upload(cvl::Type::Int, numbers.data(), length(numbers));
    const std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
    return upload(cvl::Type::Int, narrow.data(), length(narrow));
  }
  cvl::Vector integer(std::int64_t number) { return ints({number}); }
  cvl::Vector floats(const std::vector<double>& numbers) {
    if (widths_.float_bytes == 8) return upload(cvl::Type::Float, numbers.data(), length(numbers));
    const std::vector<float> narrow(numbers.begin(), numbers.end());
    return upload(cvl::Type::Float, narrow.data(), length(narrow));
  }
  cvl::Vector bools(const std::vector<std::uint8_t>& flags) {
    return upload(cvl::Type::Bool, flags.data(), length(flags));
  }
  cvl::Vector string(std::string_view text) {
    std::vector<std::int64_t> codes;
    for (const char c : text) codes.push_back(static_cast<unsigned char>(c));
    return ints(codes);
  }
  cvl::Segdes segdes(const std::vector<std::int64_t>& lengths) {
    return make_descriptor(ints(lengths));
  }
  std::vector<std::int64_t> elements(const cvl::Vector& vector) {
    const auto count = static_cast<std::size_t>(vector.length);
    if (widths_.int_bytes == 8) {
      std::vector<std::int64_t> numbers(count);
      download(vector, 0, vector.length, numbers.data());
      return numbers;
    }
    std::vector<std::int32_t> numbers(count);
    download(vector, 0, vector.length, numbers.data());
    return {numbers.begin(), numbers.end()};
  }
  std::string text(const cvl::Vector& codes) {
    std::string result;
    for (const std::int64_t code : elements(codes)) result += static_cast<char>(code);
    return result;
  }

  std::int64_t greatest_download = 0;  // elements fetched at once
  int host_threads = 1;

 private:
  template <class T>
  static std::int64_t length(const std::vector<T>& elements) {
    return static_cast<std::int64_t>(elements.size());
  }

  cvl::Segdes make_descriptor(const cvl::Vector& lengths) {
    const std::vector<std::int64_t> numbers = elements(lengths);
    cvl::Segdes result;
    result.count = length(numbers);
    for (const std::int64_t number : numbers) {
      result.uniform = result.uniform && number == numbers[0];
      result.total += number;
    }
    if (result.uniform) {
      result.uniform_length = numbers.empty() ? 0 : numbers[0];
    } else {
      result.tables = cvl::Ref<cvl::SegdesTables>(new cvl::SegdesTables);
      result.tables->lengths = lengths;
    }
    return result;
  }
  cvl::Vector lengths_of(const cvl::Segdes& segdes) {
    if (!segdes.uniform) return segdes.tables->lengths;
    return ints(
        std::vector<std::int64_t>(static_cast<std::size_t>(segdes.count), segdes.uniform_length));
  }

  cvl::Widths widths_;
  cvl::HostMemory memory_;
  cvl::Heap heap_;
};

}  // namespace vinterp_test
