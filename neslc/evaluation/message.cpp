#include "neslc/evaluation/message.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/streams.hpp"

namespace neslc {
namespace {

constexpr std::size_t kAlignment = 8;                 // of the elements of a vector
constexpr std::size_t kPiece = std::size_t{1} << 20;  // bytes that are written at once

enum class Kind : std::uint8_t { Vector, Uniform, Segments };

[[noreturn]] void fail(vcode::ErrorCode code, std::string_view what, int error) {
  throw cvl::Failure(code, fmt::format("{}: {}", what, vinterp::system_message(error)));
}

}  // namespace

vinterp::FileDescriptor make_message_file() {
  vinterp::FileDescriptor file(memfd_create("nesl", MFD_CLOEXEC));
  if (!file) fail(vcode::ErrorCode::Background, "no file for a background evaluation", errno);
  return file;
}

// ---- Writing

void MessageWriter::put_bytes(const void* bytes, std::size_t count) {
  const auto* const begin = static_cast<const std::byte*>(bytes);
  waiting_.insert(waiting_.end(), begin, begin + count);
  written_ += count;
  if (waiting_.size() >= kPiece) flush();
}

void MessageWriter::align() {
  constexpr std::byte kPadding[kAlignment] = {};
  put_bytes(kPadding, (kAlignment - written_ % kAlignment) % kAlignment);
}

void MessageWriter::flush() {
  const int error =
      vinterp::write_fully(fd_, {reinterpret_cast<const char*>(waiting_.data()), waiting_.size()});
  if (error != 0) {
    fail(vcode::ErrorCode::OutOfMemory, "the values of a background evaluation", error);
  }
  waiting_.clear();
}

void MessageWriter::put(const std::string& text) {
  put(text.size());
  put_bytes(text.data(), text.size());
}

// A vector that is held without its elements stays so; others arrive in their full width.
void MessageWriter::put_vector(const cvl::Vector& vector) {
  put(vector.type);
  put(vector.is_buffered() ? cvl::Form::Dense : vector.form);
  put(vector.length);
  if (!vector.is_buffered()) return put_bytes(vector.payload, sizeof vector.payload);
  align();
  const std::size_t width = backend_.widths().element_bytes(vector.type);
  const auto most = static_cast<std::int64_t>(kPiece / width);
  std::vector<std::byte> piece;
  for (std::int64_t begin = 0; begin < vector.length; begin += most) {
    const std::int64_t count = std::min(most, vector.length - begin);
    piece.resize(static_cast<std::size_t>(count) * width);
    backend_.download(vector, begin, count, piece.data());
    put_bytes(piece.data(), piece.size());
  }
}

// Compiled programs neither return pairs of VCODE nor have constants of that type.
void MessageWriter::put(const cvl::Value& value) {
  if (value.is_vector()) {
    put(Kind::Vector);
    return put_vector(value.vector());
  }
  const cvl::Segdes& segdes = value.segdes();
  put(segdes.uniform ? Kind::Uniform : Kind::Segments);
  if (!segdes.uniform) return put_vector(segdes_lengths(backend_, segdes));
  put(segdes.count);
  put(segdes.uniform_length);
}

void MessageWriter::put(const vcode::Note& note) {
  put(note.text);
  put(note.span);
}

void MessageWriter::put(const vcode::Diagnostic& diagnostic) {
  put(diagnostic.code);
  put(diagnostic.message);
  put(diagnostic.span);
  put(diagnostic.function);
  put(diagnostic.notes);
  put(diagnostic.hint);
}

// ---- Reading

MappedFile::MappedFile(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const bytes = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) {
    fail(vcode::ErrorCode::OutOfMemory, "the values of a background evaluation", errno);
  }
  bytes_ = static_cast<const std::byte*>(bytes);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) munmap(const_cast<std::byte*>(bytes_), size_);
}

void MessageReader::check(std::size_t count) const {
  if (next_ <= bytes_.size() && count <= bytes_.size() - next_) return;
  throw cvl::Failure(vcode::ErrorCode::Background,
                     "the result of the background evaluation is not complete");
}

void MessageReader::get_bytes(void* bytes, std::size_t count) {
  check(count);
  if (count > 0) std::memcpy(bytes, bytes_.data() + next_, count);
  next_ += count;
}

void MessageReader::get(std::string& text) {
  std::size_t count = 0;
  get(count);
  check(count);
  text.resize(count);
  get_bytes(text.data(), count);
}

cvl::Vector MessageReader::get_vector() {
  cvl::Vector vector;
  get(vector.type);
  cvl::Form form{};
  get(form);
  vector.form = form;
  get(vector.length);
  if (vector.form != cvl::Form::Dense) {
    get_bytes(vector.payload, sizeof vector.payload);
    return vector;
  }
  next_ += (kAlignment - next_ % kAlignment) % kAlignment;
  const std::size_t size =
      static_cast<std::size_t>(vector.length) * backend_->widths().element_bytes(vector.type);
  check(size);
  const std::byte* const elements = bytes_.data() + next_;
  next_ += size;
  return backend_->upload(vector.type, elements, vector.length);
}

void MessageReader::get(cvl::Value& value) {
  Kind kind{};
  get(kind);
  if (kind == Kind::Vector) {
    value = get_vector();
  } else if (kind == Kind::Segments) {
    value = make_segdes(*backend_, get_vector());
  } else {
    std::int64_t count = 0, length = 0;
    get(count);
    get(length);
    value = cvl::Segdes::regular(count, length);
  }
}

void MessageReader::get(vcode::Note& note) {
  get(note.text);
  get(note.span);
}

void MessageReader::get(vcode::Diagnostic& diagnostic) {
  get(diagnostic.code);
  get(diagnostic.message);
  get(diagnostic.span);
  get(diagnostic.function);
  get(diagnostic.notes);
  get(diagnostic.hint);
}

}  // namespace neslc
