#pragma once
// Several processes that live and die together.

#include <chrono>
#include <vector>

#include "worker.h"

namespace hb::cli {

struct Supervision {
  std::chrono::milliseconds grace{5000};  // from the request to end to SIGKILL
  bool end_with_input = false;            // the end of standard input ends all
};

struct Outcome {
  int status = 0;            // 0, the exit status of the first that failed, or 128 + the number of its signal
  bool interrupted = false;  // somebody wanted all to end
};

/// Starts all and waits for them. When one fails, the others are ended, and its status and last lines are written to
/// standard error. SIGINT, SIGTERM and SIGHUP end all; nothing of theirs is left when this returns.
Outcome supervise(const std::vector<WorkerPlan>& plans, const Supervision& how);

}  // namespace hb::cli
