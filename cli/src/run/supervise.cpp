#include "supervise.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include <halfbridge/error.h>

#include "keeper.h"

namespace hb::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Kills and reaps what processes of the run left outside of their groups: as their subreaper the launcher gets them as
/// children.
void end_orphans(pid_t keeper) {
  for (bool found = true; found;) {
    found = false;
    std::ifstream children(detail::str("/proc/self/task/", ::getpid(), "/children"));
    for (pid_t child; children >> child;) {
      if (child == keeper) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      found = true;
    }
  }
}

/// Signals come as data while this lives.
class Signals {
 public:
  Signals() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&wanted, number);
    ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    file_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    HB_CHECK(file_ >= 0, "[run] cannot wait for signals: ", ::strerror(errno));
    broken_pipe_ = ::signal(SIGPIPE, SIG_IGN);
  }
  ~Signals() {
    ::close(file_);
    ::signal(SIGPIPE, broken_pipe_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  int file() const { return file_; }
  /// The next signal that asks to end, 0 where there is none.
  int next() const {
    signalfd_siginfo info;
    while (::read(file_, &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
    return 0;
  }

 private:
  sigset_t before_;
  int file_;
  void (*broken_pipe_)(int);
};

std::string ending(int status) {
  if (WIFEXITED(status)) return detail::str("ended with exit status ", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return detail::str("was ended by signal ", number, " (", ::strsignal(number), ")");
}

class Group {
 public:
  Group(const std::vector<WorkerPlan>& plans, const Supervision& how) : how_(how) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const WorkerPlan& plan : plans) {
      workers_.push_back(std::make_unique<Worker>(plan));
      keeper_.watch(workers_.back()->pid());
    }
    input_ = how.end_with_input ? STDIN_FILENO : -1;
  }
  Outcome run();

 private:
  void wait();
  void look_for_ends();
  void end_all(int signal);
  void report(const Worker& worker);
  bool any_running() const {
    for (const auto& w : workers_)
      if (w->running()) return true;
    return false;
  }

  const Supervision how_;
  Signals signals_;
  Keeper keeper_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int input_;
  bool ending_ = false, killed_ = false;
  Clock::time_point deadline_;
  Outcome outcome_;
};

Outcome Group::run() {
  while (any_running()) {
    wait();
    while (const int number = signals_.next()) {
      if (!outcome_.interrupted) outcome_ = {128 + number, true};
      // Who asks again does not want to wait.
      end_all(ending_ ? SIGKILL : number);
    }
    look_for_ends();
    if (ending_ && !killed_ && Clock::now() >= deadline_) end_all(SIGKILL);
  }
  end_orphans(keeper_.process());
  for (const auto& w : workers_) w->finish();
  return outcome_;
}

// Until something happens: output, a signal, the end of a process, of the input, or of the time to end.
void Group::wait() {
  std::vector<pollfd> files{{signals_.file(), POLLIN, 0}};
  if (input_ >= 0) files.push_back({input_, POLLIN, 0});
  for (const auto& w : workers_)
    for (const int which : {0, 1}) files.push_back({w->outputs()[which], POLLIN, 0});  // -1 is passed over
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  ::poll(files.data(), files.size(), ending_ && !killed_ ? static_cast<int>(std::max<int64_t>(left, 0)) : -1);
  size_t at = 1;
  if (input_ >= 0 && files[at++].revents) {
    char bytes[64];
    if (::read(input_, bytes, sizeof bytes) <= 0) {
      input_ = -1;
      if (!outcome_.interrupted) outcome_ = {128 + SIGHUP, true};
      end_all(SIGTERM);
    }
  }
  for (const auto& w : workers_)
    for (const int which : {0, 1})
      if (files[at++].revents) w->take(which);
}

void Group::look_for_ends() {
  std::vector<Worker*> failed;
  for (const auto& w : workers_) {
    if (!w->reap()) continue;
    keeper_.forget(w->pid());
    if (w->failed()) failed.push_back(w.get());
  }
  if (failed.empty() || ending_) return;
  // Of several that ended at once, the one that a signal ended is the cause: the others lost their peer.
  Worker* first = failed[0];
  for (Worker* w : failed)
    if (WIFSIGNALED(w->status()) && !WIFSIGNALED(first->status())) first = w;
  outcome_.status = WIFEXITED(first->status()) ? WEXITSTATUS(first->status()) : 128 + WTERMSIG(first->status());
  first->finish();
  report(*first);
  end_all(SIGTERM);
}

void Group::end_all(int signal) {
  if (!ending_) deadline_ = Clock::now() + how_.grace;
  ending_ = true;
  if (signal == SIGKILL) killed_ = true;
  for (const auto& w : workers_) {
    if (!w->running()) continue;
    w->signal(signal);
    w->signal(SIGCONT);  // one that is stopped would not see it
  }
}

void Group::report(const Worker& worker) {
  std::string text = detail::str("halfbridge run: ", worker.name(), " (process ", worker.pid(), ") ",
                                 ending(worker.status()), " after ", worker.seconds(), " s; the others are ended");
  if (worker.reports_itself()) {
    write_all(STDERR_FILENO, text + ".\n");
    return;
  }
  text += worker.last_lines().lines().empty() ? ". It printed nothing.\n" : ". Its last lines:\n";
  for (const std::string& line : worker.last_lines().lines()) text += "    " + line + "\n";
  write_all(STDERR_FILENO, text);
}

}  // namespace

Outcome supervise(const std::vector<WorkerPlan>& plans, const Supervision& how) { return Group(plans, how).run(); }

}  // namespace hb::cli
