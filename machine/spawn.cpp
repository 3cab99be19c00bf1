#include "machine/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "machine/byte_buffer.hpp"
#include "machine/streams.hpp"

extern char** environ;

namespace vinterp {
namespace {

constexpr int kChildStreams = 3;

/// Attributes and actions of one start. The C functions fail only for lack of memory; their first
/// error is kept in `error`.
class SpawnPlan {
 public:
  explicit SpawnPlan(const std::array<int, kChildStreams>& sources) {
    keep(posix_spawn_file_actions_init(&actions_));
    keep(posix_spawnattr_init(&attributes_));
    for (int target = 0; target < kChildStreams; ++target) {
      keep(posix_spawn_file_actions_adddup2(&actions_, sources[static_cast<std::size_t>(target)],
                                            target));
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Descriptors opened here are closed by their flag; this catches inherited and library ones.
    keep(posix_spawn_file_actions_addclosefrom_np(&actions_, kChildStreams));
#endif
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    keep(posix_spawnattr_setsigdefault(&attributes_, &defaults));
    keep(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF));
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  int error() const {
    return error_;
  }
  const posix_spawn_file_actions_t* actions() const {
    return &actions_;
  }
  const posix_spawnattr_t* attributes() const {
    return &attributes_;
  }

 private:
  void keep(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  int error_ = 0;
};

/// Did starting fail for lack of something of ours, rather than because of the program named?
bool is_resource_error(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

}  // namespace

int make_pipe(PipeEnds& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  pipe.read = FileDescriptor(ends[0]);
  pipe.write = FileDescriptor(ends[1]);
  return 0;
}

std::vector<std::string> split_command(const std::string& command) {
  constexpr const char* kBlanks = " \t\n";
  std::vector<std::string> words;
  std::size_t begin = command.find_first_not_of(kBlanks);
  while (begin != std::string::npos) {
    const std::size_t end = command.find_first_of(kBlanks, begin);
    words.push_back(command.substr(begin, end - begin));
    begin = command.find_first_not_of(kBlanks, end);
  }
  return words;
}

int ChildProcesses::start(const std::vector<std::string>& words, const ChildStreams& streams) {
  collect();
  // The streams are put in place one after the other, so none may stand where another one goes:
  // those are moved out of the way first.
  std::array<int, kChildStreams> sources = {streams.in, streams.out, streams.err};
  std::array<FileDescriptor, kChildStreams> moved;
  for (int target = 0; target < kChildStreams; ++target) {
    const auto place = static_cast<std::size_t>(target);
    if (sources[place] >= kChildStreams || sources[place] == target) continue;
    moved[place] = FileDescriptor(::fcntl(sources[place], F_DUPFD_CLOEXEC, kChildStreams));
    if (!moved[place]) return errno;
    sources[place] = moved[place].get();
  }

  const SpawnPlan plan(sources);
  if (plan.error() != 0) return plan.error();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], plan.actions(), plan.attributes(),
                                   arguments.data(), environ);
  if (error == 0) {
    children_.push_back(child);
    return 0;
  }
  if (is_resource_error(error)) return error;
  write_fully(streams.err,
              fmt::format("vinterp: cannot execute {}: {}\n", words[0], system_message(error)));
  return 0;
}

void ChildProcesses::collect() {
  std::erase_if(children_, [](pid_t child) {
    const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
    return ended == child || (ended < 0 && errno == ECHILD);
  });
}

}  // namespace vinterp
