// Ranks that die, stop, do not come or call something else; each a process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "distributed/ranks.h"

namespace {

using Clock = std::chrono::steady_clock;

/// The processes of one run. What is left of them is killed at the end.
class Processes {
 public:
  Processes(const std::string& scenario, int size, int timeout_ms) : shared_before_(shared_files()) {
    path_ = std::filesystem::temp_directory_path() / ("hb_ranks_" + std::to_string(getpid()));
    std::filesystem::remove(path_);
    for (int rank = 0; rank < size; ++rank)
      start({scenario, path_, std::to_string(rank), std::to_string(size), std::to_string(timeout_ms)});
  }
  ~Processes() {
    for (auto& p : processes_) {
      if (!p.ended) kill(p.pid, SIGKILL), waitpid(p.pid, nullptr, 0);
      close(p.output);
    }
    std::filesystem::remove(path_);
    EXPECT_EQ(shared_files(), shared_before_);
  }

  void signal(int rank, int number) { kill(processes_[rank].pid, number); }
  /// What a rank prints until it has printed the text, or ends, or 20 seconds have passed.
  const std::string& until(int rank, const std::string& text) {
    Process& p = processes_[rank];
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (p.text.find(text) == std::string::npos && Clock::now() < end) {
      pollfd polled{p.output, POLLIN, 0};
      if (poll(&polled, 1, 100) <= 0) continue;
      char buffer[4096];
      const ssize_t n = read(p.output, buffer, sizeof(buffer));
      if (n <= 0) break;
      p.text.append(buffer, n);
    }
    return p.text;
  }
  void all_ready() {
    for (size_t r = 0; r < processes_.size(); ++r)
      EXPECT_NE(until(r, "ready\n").find("ready"), std::string::npos) << "rank " << r;
  }
  /// The rank ends with an error that has the words.
  void expect_error(int rank, const std::vector<std::string>& words) {
    const std::string text = until(rank, "\x01");  // to its end
    Process& p = processes_[rank];
    int status = 0;
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (waitpid(p.pid, &status, WNOHANG) == 0 && Clock::now() < end) usleep(10000);
    p.ended = WIFEXITED(status) || WIFSIGNALED(status);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3)
        << "rank " << rank << " ended with " << status << ": " << text;
    for (const auto& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << "rank " << rank << " said: " << text;
  }

 private:
  struct Process {
    pid_t pid;
    int output;
    bool ended = false;
    std::string text;
  };

  static std::set<std::string> shared_files() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      if (entry.path().filename().string().find("hb") != std::string::npos ||
          entry.path().filename().string().find("halfbridge") != std::string::npos)
        names.insert(entry.path());
    return names;
  }

  void start(std::vector<std::string> arguments) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), HALFBRIDGE_RANKS_PROGRAM);
    std::vector<char*> argv;
    for (auto& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    processes_.push_back({pid, ends[0], false, {}});
  }

  std::set<std::string> shared_before_;
  std::string path_;
  std::vector<Process> processes_;
};

TEST(DistributedFaults, ARankThatIsKilledIsNamed) {
  for (int victim : {0, 2}) {
    Processes run("forever", 3, 60000);
    run.all_ready();
    usleep(50000);
    run.signal(victim, SIGKILL);
    for (int r = 0; r < 3; ++r)
      if (r != victim)
        run.expect_error(r, {"ALLREDUCE #", "Float [100000]", "rank " + std::to_string(victim) + " has died"});
  }
}

TEST(DistributedFaults, ARankThatIsKilledIsNamedOverTcp) {
  if (ranks::without_gloo()) GTEST_SKIP() << "no Gloo here";
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp");
  Processes run("forever", 2, 60000);
  run.all_ready();
  usleep(50000);
  run.signal(1, SIGKILL);
  run.expect_error(0, {"ALLREDUCE #", "Float [100000]", "the connection to rank 1 failed"});
}

TEST(DistributedFaults, ARankThatStopsIsMissingAtTheDeadline) {
  Processes run("forever", 2, 700);
  run.all_ready();
  usleep(50000);
  run.signal(1, SIGSTOP);
  run.expect_error(0, {"ALLREDUCE #", "timed out after 700 ms", "rank 1 is missing"});
  run.signal(1, SIGCONT);  // it learns that the others gave up
  run.expect_error(1, {"timed out", "rank 1 is missing"});
}

TEST(DistributedFaults, ARankThatDoesNotComeIsMissing) {
  {
    Processes run("pauses", 3, 500);
    run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]] timed out after 500 ms", "rank 1 is missing",
                         "ALLREDUCE (SUM) of Float [10] #1"});
    run.expect_error(2, {"rank 1 is missing"});
  }
  if (ranks::without_gloo()) return;
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp");
  Processes run("pauses", 3, 500);
  run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]] timed out after 500 ms", "rank 1 is missing"});
  run.expect_error(2, {"rank 1 is missing"});
}

TEST(DistributedFaults, ARankThatCallsSomethingElseIsNamed) {
  {
    Processes run("other_call", 2, 20000);
    run.expect_error(0, {"[ALLREDUCE #1 (SUM) of Float [3]] expected the same call",
                         "rank 1 called BROADCAST with root 0 of Float [3]"});
    run.expect_error(1, {"[BROADCAST #1 with root 0 of Float [3]]", "rank 0 called ALLREDUCE (SUM) of Float [3]"});
  }
  {
    Processes run("other_shape", 3, 20000);
    run.expect_error(0, {"rank 1 called ALLREDUCE (SUM) of Float [4]"});
    run.expect_error(1, {"rank 0 called", "rank 2 called ALLREDUCE (SUM) of Float [3]"});
  }
  if (ranks::without_gloo()) return;
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp"), detail("TORCH_DISTRIBUTED_DEBUG", "DETAIL");
  Processes run("other_shape", 2, 20000);
  run.expect_error(0, {"rank 1 called ALLREDUCE (SUM) of Float [4]"});
  run.expect_error(1, {"rank 0 called ALLREDUCE (SUM) of Float [3]"});
}

TEST(DistributedFaults, MessagesHaveDeadlinesToo) {
  {
    Processes run("message", 2, 300);
    run.expect_error(0, {"RECV of Float [3] from rank 1, tag 0", "timed out after 300 ms"});
  }
  {
    Processes run("message", 2, 60000);
    run.all_ready();
    run.signal(1, SIGKILL);
    run.expect_error(0, {"RECV of Float [3] from rank 1", "rank 1 has died"});
  }
  Processes run("monitored", 3, 300);
  run.expect_error(0, {"Rank 1 failed to pass monitoredBarrier in 300 ms"});
}

}  // namespace
