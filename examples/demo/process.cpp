#include "process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace demo {
namespace {

double status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == key && status >> kib) return kib / 1024;
  }
  return 0;
}

void write_all(int to, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(3);
    at += static_cast<size_t>(n);
  }
}

// The first letter tells the parent whether the rest is the result or an error.
[[noreturn]] void run_child(int to, const std::function<std::string()>& work) {
  std::string answer;
  try {
    answer = "r" + work();
  } catch (const std::exception& error) {
    answer = std::string("e") + error.what();
  }
  std::fflush(stdout);
  write_all(to, answer);
  _exit(0);
}

}  // namespace

double resident_mib() { return status_mib("VmRSS:"); }
double peak_resident_mib() { return status_mib("VmHWM:"); }

std::string in_own_process(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("could not make a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("could not start a process");
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], work);
  }
  close(ends[1]);
  std::string answer;
  char part[4096];
  ssize_t n;
  while ((n = read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) answer.append(part, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw std::runtime_error("the training's process ended by signal " + std::to_string(WTERMSIG(status)));
  }
  if (answer.empty())
    throw std::runtime_error("the training's process ended with " + std::to_string(WEXITSTATUS(status)));
  if (answer[0] == 'e') throw std::runtime_error(answer.substr(1));
  return answer.substr(1);
}

}  // namespace demo
