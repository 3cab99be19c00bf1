#include "machine/streams.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace vinterp {
namespace {

constexpr int kStandardStreams = 3;

/// Opens with repetition after signals; the descriptor is not inherited by spawned processes.
int open_repeatedly(const char* name, int flags) {
  int fd;
  do {
    fd = ::open(name, flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

Stream::~Stream() {
  if (!fd_) return;
  output_.flush();
  if (fd_.get() < kStandardStreams) fd_.release();
}

bool Stream::is_terminal() const {
  return ::isatty(fd_.get()) == 1;
}

int Stream::close() {
  if (!fd_) return 0;
  input_.stop();
  int error = output_.flush();
  const int fd = fd_.release();
  if (fd < kStandardStreams) {
    const FileDescriptor null(open_repeatedly("/dev/null", O_RDWR));
    if (null) {
      ::dup2(null.get(), fd);
      return error;
    }
  }
  // An interrupted close has closed the descriptor: it must not be repeated.
  if (::close(fd) != 0 && errno != EINTR && error == 0) error = errno;
  if (new_file_ && error == 0) error = new_file_->complete();
  return error;
}

int Stream::keep_last_line() {
  // Nobody needs a longer last line; a part of it would be taken for the whole.
  constexpr off_t kLongestLine = 4096;
  const off_t size = ::lseek(fd_.get(), 0, SEEK_END);
  if (size < 0) return errno;
  std::string end(static_cast<std::size_t>(std::min(size, kLongestLine)), '\0');
  const auto length = static_cast<off_t>(end.size());
  if (::pread(fd_.get(), end.data(), end.size(), size - length) != length) {
    return errno != 0 ? errno : EIO;
  }
  const std::size_t line_end = end.ends_with('\n') ? end.size() - 1 : end.size();
  const std::size_t break_before =
      line_end == 0 ? std::string::npos : end.rfind('\n', line_end - 1);
  if (break_before == std::string::npos && size > length) return EFBIG;
  last_line_ = end.substr(break_before == std::string::npos ? 0 : break_before + 1);
  return ::lseek(fd_.get(), -static_cast<off_t>(last_line_.size()), SEEK_END) < 0 ? errno : 0;
}

int Stream::finish_output() {
  if (last_line_.empty()) return output_.flush();
  int error = output_.write(last_line_);
  if (error == 0) error = output_.flush();
  if (error == 0 && ::lseek(fd_.get(), -static_cast<off_t>(last_line_.size()), SEEK_CUR) < 0) {
    error = errno;
  }
  return error;
}

StreamTable::StreamTable(int in, int out, int err) {
  add(FileDescriptor(in), Stream::Direction::Read);
  add(FileDescriptor(out), Stream::Direction::Write);
  add(FileDescriptor(err), Stream::Direction::Write);
}

Stream* StreamTable::find(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(streams_.size())) return nullptr;
  return streams_[static_cast<std::size_t>(number)].get();
}

std::int64_t StreamTable::add(FileDescriptor fd, Stream::Direction direction) {
  return add(std::make_unique<Stream>(std::move(fd), direction));
}

std::int64_t StreamTable::add(std::unique_ptr<Stream> stream) {
  auto place = std::find(streams_.begin(), streams_.end(), nullptr);
  if (place == streams_.end()) place = streams_.emplace(place);
  *place = std::move(stream);
  return place - streams_.begin();
}

int StreamTable::close(std::int64_t number) {
  const auto stream = std::move(streams_[static_cast<std::size_t>(number)]);
  return stream->close();
}

FileDescriptor open_file(const std::string& name, FileMode mode) {
  if (name.find('\0') != std::string::npos) {
    errno = EINVAL;
    return {};
  }
  int flags = O_RDONLY;
  if (mode == FileMode::Write) flags = O_WRONLY | O_CREAT | O_TRUNC;
  if (mode == FileMode::Append) flags = O_WRONLY | O_CREAT | O_APPEND;
  if (mode == FileMode::Insert) flags = O_RDWR;
  FileDescriptor fd(open_repeatedly(name.c_str(), flags));
  // The system reads on while the program computes; where it cannot, nothing is lost.
  if (fd && mode == FileMode::Read) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return fd;
}

bool is_ordinary_file(const FileDescriptor& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string system_message(int error) {
  return std::generic_category().message(error);
}

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int fd = 0; fd < kStandardStreams; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken, hence fd. The wrong direction keeps uses of it failures.
    static_cast<void>(::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace vinterp
