#include "keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include <halfbridge/error.h>

namespace hb::cli {

namespace {

[[noreturn]] void keep(int pipe) {
  // Of a session of its own, so that neither Ctrl-C nor the end of the terminal reaches it; and nobody shall wait for
  // it because it holds their files open.
  ::setsid();
  ::prctl(PR_SET_NAME, "halfbridge-keep");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::dup2(pipe, 0);
  ::close_range(1, ~0U, 0);
  std::set<pid_t> groups;
  for (pid_t message = 0;;) {
    const ssize_t n = ::read(0, &message, sizeof message);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof message)) break;
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  for (const pid_t group : groups) ::killpg(group, SIGKILL);
  ::_exit(0);
}

}  // namespace

Keeper::Keeper() {
  int ends[2];
  HB_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "[run] cannot make a pipe: ", std::strerror(errno));
  process_ = ::fork();
  HB_CHECK(process_ >= 0, "[run] cannot start a process: ", std::strerror(errno));
  if (process_ == 0) {
    ::close(ends[1]);
    keep(ends[0]);
  }
  ::close(ends[0]);
  pipe_ = ends[1];
}

Keeper::~Keeper() {
  ::close(pipe_);
  ::waitpid(process_, nullptr, 0);
}

void Keeper::tell(pid_t message) {
  // Shorter than PIPE_BUF: whole or not at all. Without the keeper the children still end with the launcher.
  const ssize_t n = ::write(pipe_, &message, sizeof message);
  static_cast<void>(n);
}

}  // namespace hb::cli
