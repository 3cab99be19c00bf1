#include "neslc/evaluation/job.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/interrupt.hpp"
#include "machine/spawn.hpp"
#include "machine/streams.hpp"
#include "neslc/evaluation/job_descriptors.hpp"
#include "neslc/evaluation/job_message.hpp"

extern char** environ;

namespace neslc {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";
constexpr int kInterval = 100;  // milliseconds between two looks at a wish to stop waiting

[[noreturn]] void fail(int error) {
  throw cvl::Failure(
      vcode::ErrorCode::Background,
      fmt::format("cannot start a background evaluation: {}", vinterp::system_message(error)));
}

/// What the new process does before it runs this program: nothing of it can throw.
class SpawnPlan {
 public:
  /// Descriptors that the process gets, by their numbers there.
  SpawnPlan(int request, int answer, int life) {
    keep(posix_spawn_file_actions_init(&actions_));
    keep(posix_spawnattr_init(&attributes_));
    // The keyboard belongs to the prompt.
    keep(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    keep(posix_spawn_file_actions_adddup2(&actions_, request, kRequestDescriptor));
    keep(posix_spawn_file_actions_adddup2(&actions_, answer, kAnswerDescriptor));
    keep(posix_spawn_file_actions_adddup2(&actions_, life, kLifeDescriptor));
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Descriptors opened here are closed by their flag; this catches inherited and library ones.
    keep(posix_spawn_file_actions_addclosefrom_np(&actions_, kLifeDescriptor + 1));
#endif
    // A group of its own: Ctrl-C at the prompt does not reach it.
    keep(posix_spawnattr_setpgroup(&attributes_, 0));
    keep(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP));
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  pid_t start() {
    const std::string parent = std::to_string(getpid());
    std::array<char*, 3> arguments = {const_cast<char*>(kJobProgram.data()),
                                      const_cast<char*>(parent.c_str()), nullptr};
    pid_t process = -1;
    if (error_ == 0) {
      error_ =
          posix_spawn(&process, kThisProgram, &actions_, &attributes_, arguments.data(), environ);
    }
    if (error_ != 0) fail(error_);
    return process;
  }

 private:
  void keep(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  int error_ = 0;
};

/// Out of the way of the numbers that descriptors get in the new process.
vinterp::FileDescriptor moved_up(vinterp::FileDescriptor descriptor) {
  vinterp::FileDescriptor moved(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kLifeDescriptor + 1));
  if (!moved) fail(errno);
  return moved;
}

}  // namespace

Job::Job(const JobRequest& request, cvl::Backend& backend)
    : answer_(moved_up(make_message_file())) {
  const vinterp::FileDescriptor message = moved_up(make_message_file());
  write_request(message.get(), request, backend);
  vinterp::PipeEnds life;
  if (const int error = vinterp::make_pipe(life); error != 0) fail(error);
  const vinterp::FileDescriptor end = moved_up(std::move(life.write));
  life_ = std::move(life.read);
  process_ = SpawnPlan(message.get(), answer_.get(), end.get()).start();
}

Job::~Job() {
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Job::ends_within(int milliseconds) {
  if (process_ < 0) return true;
  pollfd life{life_.get(), POLLIN, 0};
  if (poll(&life, 1, milliseconds) <= 0) return false;
  while (waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return true;
}

bool Job::has_ended() {
  return ends_within(0);
}

bool Job::wait() {
  while (!ends_within(kInterval)) {
    if (vinterp::pending_signal.load() != 0) return false;
  }
  return true;
}

Executions Job::result(cvl::Backend& backend) {
  if (WIFSIGNALED(status_)) {
    const int signal = WTERMSIG(status_);
    throw cvl::Failure(
        vcode::ErrorCode::Background,
        fmt::format("the process of the background evaluation was killed by signal {} ({})", signal,
                    strsignal(signal)),
        {},
        signal == SIGKILL ? "the system may be short of memory: limit that of the evaluation, "
                            "`name &= exp, mem := words`"
                          : "");
  }
  if (WEXITSTATUS(status_) != 0) {
    throw cvl::Failure(
        vcode::ErrorCode::Background,
        fmt::format("the process of the background evaluation ended with status {} and no result",
                    WEXITSTATUS(status_)));
  }
  const MappedFile file(answer_.get());
  MessageReader message(file.bytes());
  message.set_backend(backend);
  return read_result(message);
}

}  // namespace neslc
