#include "machine/spawn.hpp"

#include <chrono>
#include <fcntl.h>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "machine/byte_buffer.hpp"
#include "machine/streams.hpp"
#include "temporary_file.hpp"

namespace {

using vinterp::ChildProcesses;
using vinterp::FileDescriptor;
using vinterp_test::content_of;
using vinterp_test::file_with;

std::string read_to_end(int fd) {
  vinterp::InputBuffer input(fd);
  std::string text;
  for (int c = input.get(); c != vinterp::InputBuffer::kEnd; c = input.get()) {
    text += static_cast<char>(c);
  }
  return text;
}

/// Waits until all children are gone; false if that takes too long.
bool all_end(ChildProcesses& children) {
  for (int i = 0; i < 1000 && children.running() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    children.collect();
  }
  return children.running() == 0;
}

/// What a command writes to its output and error streams.
struct Run {
  explicit Run(const std::vector<std::string>& words, std::string_view text = "") {
    const FileDescriptor in = file_with(text);
    const FileDescriptor out_file = file_with("");
    const FileDescriptor err_file = file_with("");
    ChildProcesses children;
    REQUIRE(children.start(words, {in.get(), out_file.get(), err_file.get()}) == 0);
    REQUIRE(all_end(children));
    out = content_of(out_file.get());
    err = content_of(err_file.get());
  }
  std::string out, err;
};

TEST_CASE("commands are split at blanks, without quoting") {
  using Words = std::vector<std::string>;
  CHECK(vinterp::split_command("cat") == Words{"cat"});
  CHECK(vinterp::split_command("  a  'b c'\t\"d\"\n") == Words{"a", "'b", "c'", "\"d\""});
  CHECK(vinterp::split_command("").empty());
  CHECK(vinterp::split_command(" \t").empty());
}

TEST_CASE("a child gets the three streams") {
  const Run run({"sh", "-c", "cat; echo oops >&2"}, "hello");
  CHECK(run.out == "hello");
  CHECK(run.err == "oops\n");
}

TEST_CASE("arguments arrive as they are") {
  CHECK(Run({"printf", "%s|", "a b", "", "*"}).out == "a b||*|");
}

TEST_CASE("a program that cannot be executed leaves a message on its error stream") {
  const Run run({"no-such-program-anywhere"});
  CHECK(run.out.empty());
  CHECK(run.err == "vinterp: cannot execute no-such-program-anywhere: No such file or directory\n");
  CHECK(Run({"/"}).err == "vinterp: cannot execute /: Permission denied\n");
}

TEST_CASE("a child inherits nothing but its streams") {
  const FileDescriptor inheritable(::open("/dev/null", O_RDONLY));
  const FileDescriptor copy(::fcntl(inheritable.get(), F_DUPFD, 60));
  REQUIRE(copy.get() >= 60);
  const Run run(
      {"sh", "-c",
       "(true <&" + std::to_string(inheritable.get()) + ") 2>/dev/null && echo open; exit 0"});
  CHECK(run.out.empty());
}

TEST_CASE("the end of a pipe is seen although other children live") {
  ChildProcesses children;
  vinterp::PipeEnds first, second;
  REQUIRE(vinterp::make_pipe(first) == 0);
  REQUIRE(vinterp::make_pipe(second) == 0);
  const FileDescriptor null = vinterp::open_file("/dev/null", vinterp::FileMode::Write);
  REQUIRE(children.start({"cat"}, {first.read.get(), null.get(), null.get()}) == 0);
  REQUIRE(children.start({"cat"}, {second.read.get(), null.get(), null.get()}) == 0);
  first.write.reset();  // would stay open in the second child if it were inherited
  second.write.reset();
  CHECK(all_end(children));
}

TEST_CASE("streams may stand in each other's places") {
  // Descriptors 0 to 2 of this process are put in places where the others are needed.
  const FileDescriptor saved_in(::fcntl(0, F_DUPFD_CLOEXEC, 10));
  const FileDescriptor saved_out(::fcntl(1, F_DUPFD_CLOEXEC, 10));
  const FileDescriptor saved_err(::fcntl(2, F_DUPFD_CLOEXEC, 10));
  const FileDescriptor a = file_with(""), b = file_with(""), input = file_with("in");
  ::dup2(a.get(), 0);
  ::dup2(input.get(), 1);
  ::dup2(b.get(), 2);
  ChildProcesses children;
  const int error = children.start({"sh", "-c", "cat; echo err >&2"}, {1, 2, 0});
  const bool ended = all_end(children);
  ::dup2(saved_in.get(), 0);
  ::dup2(saved_out.get(), 1);
  ::dup2(saved_err.get(), 2);
  CHECK(error == 0);
  CHECK(ended);
  CHECK(content_of(b.get()) == "in");
  CHECK(content_of(a.get()) == "err\n");
}

TEST_CASE("SIGPIPE has its usual effect in children") {
  vinterp::prepare_standard_streams();
  vinterp::PipeEnds pipe;
  REQUIRE(vinterp::make_pipe(pipe) == 0);
  const FileDescriptor err = file_with("");
  const FileDescriptor null = vinterp::open_file("/dev/null", vinterp::FileMode::Read);
  ChildProcesses children;
  // An endless writer that ends only by the signal.
  REQUIRE(children.start({"sh", "-c", "while :; do echo y; done"},
                         {null.get(), pipe.write.get(), err.get()}) == 0);
  pipe.write.reset();
  pipe.read.reset();
  CHECK(all_end(children));
  CHECK(content_of(err.get()).empty());
}

TEST_CASE("children are collected when others start") {
  const FileDescriptor null_in = vinterp::open_file("/dev/null", vinterp::FileMode::Read);
  const FileDescriptor null_out = vinterp::open_file("/dev/null", vinterp::FileMode::Write);
  ChildProcesses children;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(children.start({"true"}, {null_in.get(), null_out.get(), null_out.get()}) == 0);
  }
  CHECK(all_end(children));
}

TEST_CASE("a pipeline of two children") {
  vinterp::PipeEnds middle, end;
  REQUIRE(vinterp::make_pipe(middle) == 0);
  REQUIRE(vinterp::make_pipe(end) == 0);
  const FileDescriptor input = file_with("b\na\n");
  ChildProcesses children;
  REQUIRE(children.start({"cat"}, {input.get(), middle.write.get(), 2}) == 0);
  REQUIRE(children.start({"sort"}, {middle.read.get(), end.write.get(), 2}) == 0);
  middle.write.reset();
  end.write.reset();
  CHECK(read_to_end(end.read.get()) == "a\nb\n");
}

}  // namespace
