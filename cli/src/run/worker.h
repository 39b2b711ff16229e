#pragma once
// One process that a launcher started.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lines.h"

namespace hb::cli {

/// What to start.
struct WorkerPlan {
  std::string name;   // "rank 2", "host a": for messages
  std::string label;  // before each line of its output
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;  // added to the environment
  enum class Input { kNone, kInherited, kText };
  Input input = Input::kNone;
  bool reports_itself = false;  // its own output says why it failed
  std::string text;             // for kText: what it reads first; then its input stays open until the launcher ends
};

/// A child in a process group of its own, with its output in pipes. It ends with its launcher.
class Worker {
 public:
  /// Throws where the program cannot be started.
  explicit Worker(const WorkerPlan& plan);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  bool reports_itself() const { return reports_itself_; }
  bool running() const { return !status_; }
  /// As waitpid gives it.
  int status() const { return *status_; }
  bool failed() const { return status_ && *status_ != 0; }
  /// Looks whether it has ended; true when it is seen to have. What it left in its process group is then killed.
  bool reap();
  /// Sends a signal to it and to whatever it has started in its group.
  void signal(int number) const;
  /// The two descriptors to wait for; -1 where the stream has ended.
  const int* outputs() const { return outputs_; }
  /// Takes what is there. False at the end of the stream.
  bool take(int which);
  /// Ends its output: writes an unfinished line.
  void finish();
  const LastLines& last_lines() const { return *last_; }
  double seconds() const;

 private:
  void start(const WorkerPlan& plan, const int (&child_ends)[3]);

  std::string name_;
  bool reports_itself_;
  pid_t pid_ = -1;
  std::optional<int> status_;
  int outputs_[2] = {-1, -1}, input_ = -1;
  std::unique_ptr<LastLines> last_ = std::make_unique<LastLines>();
  LineWriter writers_[2];
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), ended_;
};

}  // namespace hb::cli
