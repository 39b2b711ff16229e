#pragma once
// Ranks that are processes of the ranks program, whose deaths and words are looked at.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ranks {

using Clock = std::chrono::steady_clock;

/// The processes of one run. What is left of them is killed at the end.
class Processes {
 public:
  /// `before`: what each rank's command begins with, if anything ("ip netns exec NAME", word by word).
  Processes(const std::string& scenario, int size, int timeout_ms,
            const std::vector<std::vector<std::string>>& before = {})
      : shared_before_(shared_files()) {
    path_ = std::filesystem::temp_directory_path() / ("hb_ranks_" + std::to_string(getpid()));
    std::filesystem::remove(path_);
    for (int rank = 0; rank < size; ++rank)
      start(before.empty() ? std::vector<std::string>{} : before[static_cast<size_t>(rank)],
            {scenario, path_, std::to_string(rank), std::to_string(size), std::to_string(timeout_ms)});
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
  void expect_error(int rank, const std::vector<std::string>& words) { expect_end(rank, 3, 0, words); }
  /// The rank ends with a status, or by a signal, and has said the words.
  void expect_end(int rank, int code, int signal, const std::vector<std::string>& words) {
    const std::string text = until(rank, "\x01");  // to its end
    Process& p = processes_[rank];
    int status = 0;
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (waitpid(p.pid, &status, WNOHANG) == 0 && Clock::now() < end) usleep(10000);
    p.ended = WIFEXITED(status) || WIFSIGNALED(status);
    EXPECT_TRUE(signal ? WIFSIGNALED(status) && WTERMSIG(status) == signal
                       : WIFEXITED(status) && WEXITSTATUS(status) == code)
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

  void start(std::vector<std::string> command, const std::vector<std::string>& words) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    command.emplace_back(HALFBRIDGE_RANKS_PROGRAM);
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (auto& a : command) argv.push_back(a.data());
    argv.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    processes_.push_back({pid, ends[0], false, {}});
  }

  std::set<std::string> shared_before_;
  std::string path_;
  std::vector<Process> processes_;
};

}  // namespace ranks
