#pragma once
// Which processes a run has, and what each is told.

#include <map>
#include <string>
#include <vector>

#include "worker.h"

namespace hb::cli {

struct RunOptions {
  int processes = 1;               // per host
  int nodes = 0, node_rank = -1;   // 0 and -1: as the environment says, or one
  std::vector<std::string> hosts;  // "name" or "name:processes"
  std::string ssh = "ssh -o BatchMode=yes";
  std::string remote_program;  // this program's path on the hosts
  std::string master_address;
  int master_port = 0;  // 0: a free one
  int max_restarts = 0;
  double grace = 5;                    // seconds
  std::vector<std::string> forwarded;  // NAME or NAME=VALUE, for the hosts
  std::vector<std::string> command;    // the program and its arguments
};

/// What all attempts of a run share.
struct Run {
  RunOptions options;
  std::string id, secret;  // secret: empty where launchers of several nodes cannot share one
};

/// Checks options and environment. Throws hb::Error for what does not fit together.
Run make_run(RunOptions options);
/// The processes of this host, or one per host of `--hosts`.
std::vector<WorkerPlan> plan_attempt(const Run& run, int attempt);
/// A line of text that an agent on another host reads, and back.
std::string to_line(const std::vector<WorkerPlan>& workers, const std::string& directory, double grace);
struct AgentPlan {
  std::vector<WorkerPlan> workers;
  std::string directory;
  double grace = 5;
};
AgentPlan from_line(const std::string& line);

}  // namespace hb::cli
