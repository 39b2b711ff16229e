#pragma once
// Ends the processes of a launcher that is gone.

#include <sys/types.h>

namespace hb::cli {

/// A small process beside the launcher. When the launcher ends, however that happens (SIGKILL too), it kills the
/// process groups that it was told of.
class Keeper {
 public:
  Keeper();
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  pid_t process() const { return process_; }
  void watch(pid_t group) { tell(group); }
  /// The group has ended, and its number may be given to another.
  void forget(pid_t group) { tell(-group); }

 private:
  void tell(pid_t message);
  pid_t process_ = -1;
  int pipe_ = -1;
};

}  // namespace hb::cli
