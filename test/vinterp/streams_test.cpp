#include "machine/streams.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>

#include <catch2/catch.hpp>

#include "machine/interrupt.hpp"
#include "machine/spawn.hpp"
#include "temporary_file.hpp"
#include "tuned.hpp"

namespace {

using vinterp::FileDescriptor;
using vinterp::FileMode;
using vinterp::Stream;
using vinterp::StreamTable;
using vinterp_test::content_of;
using vinterp_test::file_with;
using vinterp_test::TemporaryDirectory;

StreamTable table_on_files() {
  return StreamTable(file_with("").release(), file_with("").release(), file_with("").release());
}

std::string read_all(vinterp::InputBuffer& input) {
  std::string text;
  input.begin();
  for (int c = input.get(); c != vinterp::InputBuffer::kEnd; c = input.get()) {
    text += static_cast<char>(c);
  }
  return text;
}

TEST_CASE("the standard streams are there from the start") {
  StreamTable streams = table_on_files();
  CHECK(streams.find(0)->readable());
  CHECK_FALSE(streams.find(0)->writable());
  CHECK(streams.find(1)->writable());
  CHECK_FALSE(streams.find(2)->readable());
  CHECK_FALSE(streams.find(0)->is_terminal());
  for (const std::int64_t number : {std::int64_t{3}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    CHECK(streams.find(number) == nullptr);
  }
}

TEST_CASE("the standard descriptors outlive the table, for messages") {
  struct stat before, after;
  REQUIRE(::fstat(2, &before) == 0);
  { const StreamTable streams; }
  REQUIRE(::fstat(2, &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(before.st_dev == after.st_dev);
}

TEST_CASE("a new stream takes the smallest free number") {
  StreamTable streams = table_on_files();
  const auto add = [&] { return streams.add(file_with(""), Stream::Direction::Read); };
  CHECK(add() == 3);
  CHECK(add() == 4);
  CHECK(add() == 5);
  CHECK(streams.close(4) == 0);
  CHECK(streams.close(0) == 0);
  CHECK(streams.find(4) == nullptr);
  CHECK(add() == 0);
  CHECK(add() == 4);
  CHECK(add() == 6);
}

TEST_CASE("there is no limit on the number of streams but the system's") {
  StreamTable streams = table_on_files();
  for (int i = 3; i < 400; ++i) {
    FileDescriptor fd = vinterp::open_file("/dev/null", FileMode::Read);
    REQUIRE(fd);
    REQUIRE(streams.add(std::move(fd), Stream::Direction::Read) == i);
  }
}

TEST_CASE("files are opened to read, to write and to append") {
  const TemporaryDirectory directory;
  const std::string name = directory.file("file");
  const auto put = [&](FileMode mode, std::string_view text) {
    const FileDescriptor fd = vinterp::open_file(name, mode);
    REQUIRE(fd);
    CHECK(vinterp::write_fully(fd.get(), text) == 0);
  };
  put(FileMode::Append, "one ");
  put(FileMode::Append, "two ");
  CHECK(content_of(vinterp::open_file(name, FileMode::Read).get()) == "one two ");
  put(FileMode::Write, "3");
  CHECK(content_of(vinterp::open_file(name, FileMode::Read).get()) == "3");
}

TEST_CASE("opened files are not inherited") {
  const FileDescriptor fd = vinterp::open_file("/dev/null", FileMode::Read);
  CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("files that cannot be opened") {
  const TemporaryDirectory directory;
  const auto error_of = [](const std::string& name, FileMode mode) {
    CHECK_FALSE(vinterp::open_file(name, mode));
    return vinterp::system_message(errno);
  };
  CHECK(error_of(directory.file("missing"), FileMode::Read) == "No such file or directory");
  CHECK(error_of("/", FileMode::Write) == "Is a directory");
  CHECK(error_of("", FileMode::Read) == "No such file or directory");
  CHECK(error_of(std::string(10'000, 'x'), FileMode::Read) == "File name too long");
  CHECK(error_of(std::string("a\0b", 3), FileMode::Write) == "Invalid argument");
}

TEST_CASE("output is buffered until it is flushed or the stream is closed") {
  FileDescriptor file = file_with("");
  const FileDescriptor other(::dup(file.get()));
  Stream stream(std::move(file), Stream::Direction::Write);
  CHECK(stream.output().write("ab") == 0);
  CHECK(content_of(other.get()).empty());
  CHECK(stream.output().flush() == 0);
  CHECK(content_of(other.get()) == "ab");
  CHECK(stream.output().write("cd") == 0);
  CHECK(stream.close() == 0);
  CHECK(content_of(other.get()) == "abcd");
}

TEST_CASE("pieces longer than the buffer keep their order") {
  const FileDescriptor file = file_with("");
  vinterp::OutputBuffer output(file.get());
  std::string expected;
  for (const std::size_t size : {10u, 70'000u, 60'000u, 60'000u, 65'536u, 1u}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    expected += piece;
    REQUIRE(output.write(piece) == 0);
  }
  REQUIRE(output.flush() == 0);
  CHECK((content_of(file.get()) == expected));
}

TEST_CASE("errors of writing are returned once, and what waited is dropped") {
  const FileDescriptor full = vinterp::open_file("/dev/full", FileMode::Write);
  REQUIRE(full);
  vinterp::OutputBuffer output(full.get());
  CHECK(output.write("text") == 0);
  CHECK(output.flush() == ENOSPC);
  CHECK(output.flush() == 0);
  CHECK(output.write(std::string(100'000, 'x')) == ENOSPC);
}

TEST_CASE("a file that grows can be read on") {
  const FileDescriptor file = file_with("one");
  vinterp::InputBuffer input(file.get());
  CHECK(read_all(input) == "one");
  CHECK(input.peek() == vinterp::InputBuffer::kEnd);
  CHECK(::pwrite(file.get(), "two", 3, 3) == 3);
  CHECK(input.get() == vinterp::InputBuffer::kEnd);  // the end lasts until the next operation
  CHECK(read_all(input) == "two");
  CHECK(input.error() == 0);
}

TEST_CASE("reading errors are kept for the operation") {
  vinterp::InputBuffer input(-1);
  CHECK(input.get() == vinterp::InputBuffer::kEnd);
  CHECK(input.error() == EBADF);
}

std::string some_bytes(std::size_t count) {
  std::string text(count, ' ');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>(i * i / 1000);
  return text;
}

TEST_CASE("bytes are taken many at a time, behind those that were read ahead") {
  const std::string text = some_bytes(1'000'000);
  const FileDescriptor file = file_with(text);
  for (const std::size_t most : {std::size_t{1} << 12, std::size_t{1} << 20, 2 * text.size()}) {
    INFO(most);
    ::lseek(file.get(), 0, SEEK_SET);
    vinterp::InputBuffer input(file.get());
    input.begin();
    std::string found(1, static_cast<char>(input.get()));
    std::vector<char> room(most);
    while (const std::size_t count = input.take(room.data(), most)) {
      REQUIRE(count <= most);
      found.append(room.data(), count);
    }
    CHECK(found == text);
    CHECK(input.error() == 0);
    CHECK(input.take(room.data(), most) == 0);
  }
}

TEST_CASE("a file is read on by another thread: the same bytes, however they are taken") {
  const std::string text = some_bytes(300'000);
  const FileDescriptor file = file_with(text);
  for (const char* const setting : {"usual", "smallest", "odd", "random:3"}) {
    INFO(setting);
    const tuned::Scope scope(setting);
    vinterp::tuning.read_ahead_after = 0;
    ::lseek(file.get(), 0, SEEK_SET);
    vinterp::InputBuffer input(file.get());
    std::string found;
    std::vector<char> room(100'000);
    found.append(room.data(), input.take(room.data(), 100));
    input.allow_reading_ahead();
    while (input.peek() != vinterp::InputBuffer::kEnd) {
      REQUIRE(input.expected() == text.size() - found.size());
      found += static_cast<char>(input.get());
      const std::string_view ahead = input.ahead().substr(0, 700);
      found += ahead;
      input.skip(ahead.size());
      found.append(room.data(), input.take(room.data(), room.size()));
    }
    CHECK((found == text));
    CHECK(input.error() == 0);
    CHECK(input.get() == vinterp::InputBuffer::kEnd);
    // It grows.
    CHECK(::pwrite(file.get(), "more", 4, static_cast<off_t>(text.size())) == 4);
    CHECK(read_all(input) == "more");
    CHECK(::ftruncate(file.get(), static_cast<off_t>(text.size())) == 0);
  }
}

TEST_CASE("of many long files only some are read on") {
  const tuned::Scope scope("smallest");
  vinterp::tuning.read_ahead_after = 0;
  const std::string text = some_bytes(2000);
  std::vector<FileDescriptor> files;
  std::vector<std::unique_ptr<vinterp::InputBuffer>> inputs;
  for (int i = 0; i < 20; ++i) {
    files.push_back(file_with(text));
    ::lseek(files.back().get(), 0, SEEK_SET);
    inputs.push_back(std::make_unique<vinterp::InputBuffer>(files.back().get()));
    inputs.back()->allow_reading_ahead();
    for (int k = 0; k < 10; ++k) CHECK(inputs.back()->get() == static_cast<unsigned char>(text[k]));
  }
  for (const auto& input : inputs) CHECK((read_all(*input) == text.substr(10)));
}

TEST_CASE("reading ahead ends early, with the run or with an error") {
  const tuned::Scope scope("smallest");
  vinterp::tuning.read_ahead_after = 0;
  const FileDescriptor file = file_with(some_bytes(100'000));
  ::lseek(file.get(), 0, SEEK_SET);
  vinterp::InputBuffer input(file.get());
  input.allow_reading_ahead();
  for (int i = 0; i < 10; ++i) CHECK(input.get() != vinterp::InputBuffer::kEnd);
  vinterp::pending_signal = SIGINT;
  while (input.get() != vinterp::InputBuffer::kEnd) {
  }
  vinterp::pending_signal = 0;
  CHECK(input.error() == EINTR);

  const FileDescriptor written = vinterp::open_file("/dev/null", FileMode::Write);
  REQUIRE(::dup2(written.get(), file.get()) == file.get());
  input.begin();
  CHECK(input.get() == vinterp::InputBuffer::kEnd);
  CHECK(input.error() == EBADF);
  input.stop();
}

TEST_CASE("a pipe without reader is an ordinary failure") {
  vinterp::prepare_standard_streams();
  vinterp::PipeEnds pipe;
  REQUIRE(vinterp::make_pipe(pipe) == 0);
  pipe.read.reset();
  CHECK(vinterp::write_fully(pipe.write.get(), "text") == EPIPE);
}

TEST_CASE("descriptors in non-blocking mode are waited for") {
  vinterp::PipeEnds pipe;
  REQUIRE(vinterp::make_pipe(pipe) == 0);
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  const std::string text(1'000'000, 'x');  // more than a pipe holds
  std::thread writer([&] {
    vinterp::write_fully(pipe.write.get(), text);
    pipe.write.reset();
  });
  vinterp::InputBuffer input(pipe.read.get());
  CHECK((read_all(input) == text));
  writer.join();
}

TEST_CASE("input and output end when the run is asked to end") {
  const FileDescriptor file = file_with("text");
  vinterp::InputBuffer input(file.get());
  vinterp::OutputBuffer output(file.get());
  CHECK(output.write("lost") == 0);
  vinterp::pending_signal = SIGINT;
  const int first = input.get();
  const int written = output.flush();
  const int reported = vinterp::write_fully(file.get(), " report");
  vinterp::pending_signal = 0;
  CHECK(first == vinterp::InputBuffer::kEnd);
  CHECK(input.error() == EINTR);
  CHECK(written == EINTR);
  CHECK(reported == 0);
  CHECK(content_of(file.get()) == " report");
}

}  // namespace
