#pragma once
// A launcher (halfbridge run) as tests see it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace launcher_test {

using Clock = std::chrono::steady_clock;

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/halfbridge-run-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A launcher that was started; its output goes to a file.
class Launcher {
 public:
  explicit Launcher(const std::string& arguments) {
    process_ = ::fork();
    if (process_ == 0) {
      const std::string command = "exec '" HALFBRIDGE_PROGRAM "' run " + arguments + " > '" + (folder_ / "out") +
                                  "' 2> '" + (folder_ / "err") + "' < /dev/null";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(126);
    }
  }
  ~Launcher() {
    if (process_ > 0) ::kill(process_, SIGKILL), ::waitpid(process_, nullptr, 0);
  }
  void signal(int number) const { ::kill(process_, number); }
  /// The exit status; 128 + a signal's number.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out() const { return contents(folder_ / "out"); }
  std::string err() const { return contents(folder_ / "err"); }
  /// Waits until the output holds this.
  bool prints(const std::string& text) const {
    for (int i = 0; i < 1000; ++i) {
      if (out().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

 private:
  Folder folder_;
  pid_t process_;
};

inline std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

// Whether a process runs; one that nobody has reaped does not, nor does one that is gone before its line is read.
inline bool runs(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name = text.rfind(')');
  return name != std::string::npos && text[name + 2] != 'Z';
}

// The processes that workers printed as "pid N".
inline std::set<pid_t> processes_in(const std::string& out) {
  std::set<pid_t> found;
  for (const std::string& line : lines_of(out))
    if (const size_t at = line.find("pid "); at != std::string::npos) found.insert(std::stoi(line.substr(at + 4)));
  return found;
}

// Waits until none of them runs.
inline bool all_gone(const std::set<pid_t>& processes) {
  for (int i = 0; i < 500; ++i) {
    bool any = false;
    for (const pid_t p : processes) any = any || runs(p);
    if (!any) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace launcher_test
