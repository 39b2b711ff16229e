#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <halfbridge/error.h>

extern char** environ;

namespace hb::cli {

namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!variables.count(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

struct Pipe {
  Pipe() { HB_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "[run] cannot make a pipe: ", std::strerror(errno)); }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  int release(int which) { return std::exchange(ends[which], -1); }
  int ends[2] = {-1, -1};
};

// In the child: calls that are safe after fork() alone.
[[noreturn]] void become(char* const* arguments, char* const* environment, const int (&files)[3], int failure,
                         pid_t launcher) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);  // it has ended in between
  for (int i = 0; i < 3; ++i) ::dup2(files[i], i);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  const ssize_t n = ::write(failure, &error, sizeof error);
  ::_exit(n == sizeof error ? 127 : 126);
}

}  // namespace

Worker::Worker(const WorkerPlan& plan)
    : name_(plan.name),
      reports_itself_(plan.reports_itself),
      writers_{{STDOUT_FILENO, plan.label, *last_}, {STDERR_FILENO, plan.label, *last_}} {
  HB_CHECK(!plan.arguments.empty(), "[run] expected a program");
  Pipe out, err, in;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  using Input = WorkerPlan::Input;
  const int input = plan.input == Input::kText ? in.ends[0] : plan.input == Input::kInherited ? 0 : nothing;
  // Descriptors from 3 on, so that dup2 in the child never overwrites one that is still wanted.
  start(plan, {input, out.ends[1], err.ends[1]});
  ::close(nothing);
  outputs_[0] = out.release(0), outputs_[1] = err.release(0);
  for (const int end : outputs_) ::fcntl(end, F_SETFL, O_NONBLOCK);
  if (plan.input == Input::kText) {
    input_ = in.release(1);
    write_all(input_, plan.text);
  }
}

void Worker::start(const WorkerPlan& plan, const int (&child_ends)[3]) {
  const auto entries = environment_with(plan.variables);
  const auto arguments = pointers(plan.arguments), environment = pointers(entries);
  Pipe failure;
  const pid_t launcher = ::getpid();
  pid_ = ::fork();
  HB_CHECK(pid_ >= 0, "[run] cannot start a process: ", std::strerror(errno));
  if (pid_ == 0) become(arguments.data(), environment.data(), child_ends, failure.ends[1], launcher);
  ::setpgid(pid_, pid_);  // whichever of the two comes first
  ::close(failure.release(1));
  int error = 0;
  ssize_t n = 0;
  do n = ::read(failure.ends[0], &error, sizeof error);
  while (n < 0 && errno == EINTR);
  if (n != sizeof error) return;
  ::waitpid(pid_, nullptr, 0);
  HB_CHECK(false, "[run] cannot start '", plan.arguments[0], "': ", std::strerror(error));
}

Worker::~Worker() {
  if (running()) {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int end : {outputs_[0], outputs_[1], input_})
    if (end >= 0) ::close(end);
}

bool Worker::reap() {
  siginfo_t seen{};
  if (!running() || ::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) != 0 || !seen.si_pid)
    return false;
  // What it has left behind in its group ends with it; until waitpid() the group's number is nobody else's.
  signal(SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = status;
  ended_ = std::chrono::steady_clock::now();
  return true;
}

void Worker::signal(int number) const { ::killpg(pid_, number); }

bool Worker::take(int which) {
  if (outputs_[which] < 0) return false;
  char bytes[16384];
  const ssize_t n = ::read(outputs_[which], bytes, sizeof bytes);
  if (n > 0) {
    writers_[which].take(bytes, static_cast<size_t>(n));
    return true;
  }
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
  ::close(std::exchange(outputs_[which], -1));
  return false;
}

void Worker::finish() {
  for (const int which : {0, 1}) {
    while (take(which)) {
    }
    writers_[which].finish();
  }
}

double Worker::seconds() const { return std::chrono::duration<double>(ended_ - began_).count(); }

}  // namespace hb::cli
