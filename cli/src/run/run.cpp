// halfbridge run
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include <halfbridge/error.h>

#include "command.h"
#include "measure.h"
#include "plan.h"
#include "supervise.h"

namespace hb::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  halfbridge run -n 4 ./train --epochs 10             four processes on this host
  halfbridge run -n 4 --max-restarts 3 ./train        restarts all when one dies, up to three times
  halfbridge run -n 8 --hosts a,b ./train             eight on each of two hosts, through ssh
  halfbridge run -n 2 --measure --step-ms 150 --gradient-mb 13   predicts steps on more ranks
  srun --ntasks-per-node 1 halfbridge run -n 8 ./train one launcher per host of a Slurm job
The processes get torchrun's variables (RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, ...), OMP_NUM_THREADS=1 unless it is
set, and a secret for this run (HALFBRIDGE_SECRET). Each line of their output starts with the rank.
Exit status: 0, or that of the first process that failed; 128 + the signal's number if a signal ended it.)";

constexpr size_t kLongestPlan = 16 << 20;

Supervision supervision(double grace) {
  Supervision how;
  how.grace = std::chrono::milliseconds(static_cast<int64_t>(grace * 1000));
  return how;
}

// A process whose standard streams are closed would get a pipe in their place.
void open_standard_streams() {
  for (int file = 0; file <= 2; ++file)
    if (::fcntl(file, F_GETFD) < 0) HB_CHECK(::open("/dev/null", O_RDWR) == file, "[run] cannot open /dev/null");
}

int run(RunOptions options) {
  open_standard_streams();
  const Run all = make_run(std::move(options));
  const RunOptions& o = all.options;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (o.hosts.empty() && o.processes > 1 && cores >= 2 * o.processes && !::getenv("OMP_NUM_THREADS"))
    write_all(STDERR_FILENO, detail::str("halfbridge run: each process computes with one thread; OMP_NUM_THREADS=",
                                         cores / o.processes, " would use all ", cores, " cores\n"));
  for (int attempt = 0;; ++attempt) {
    const Outcome outcome = supervise(plan_attempt(all, attempt), supervision(o.grace));
    if (outcome.status == 0 || outcome.interrupted || attempt == o.max_restarts) return outcome.status;
    write_all(STDERR_FILENO, detail::str("halfbridge run: starts again (", attempt + 1, " of ", o.max_restarts, ")\n"));
  }
}

// The launcher's hand on another host.
int agent() {
  std::string line;
  for (char c = 0; ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n';) {
    HB_CHECK(line.size() < kLongestPlan, "[run] expected a plan of less than ", kLongestPlan, " bytes");
    line += c;
  }
  const AgentPlan plan = from_line(line);
  std::error_code error;
  std::filesystem::current_path(plan.directory, error);
  HB_CHECK(!error, "[run] cannot enter the folder ", plan.directory, " on this host: ", error.message());
  Supervision how = supervision(plan.grace);
  how.end_with_input = true;
  return supervise(plan.workers, how).status;
}

void add_options(CLI::App& command, RunOptions& o) {
  command.add_option("-n,--nproc-per-node", o.processes, "Processes per host (1)")->check(CLI::Range(1, 4096));
  command.add_option("--max-restarts", o.max_restarts, "How often to restart all processes after one failed (0)")
      ->check(CLI::Range(0, 1000000));
  command.add_option("--hosts", o.hosts, "Hosts to start on: NAME or NAME:PROCESSES, comma-separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--ssh", o.ssh,
                     "The command that is called with a host and a command line (ssh -o BatchMode=yes)");
  command.add_option("--remote-program", o.remote_program, "The path of halfbridge on the hosts (the same as here)");
  command
      .add_option("--env", o.forwarded,
                  "NAME or NAME=VALUE: a variable to pass to the hosts, besides HALFBRIDGE_* and OMP_*")
      ->allow_extra_args(false);
  command.add_option("--master-addr", o.master_address, "Where rank 0 listens (this host, or the first of --hosts)");
  command.add_option("--master-port", o.master_port, "The port of rank 0 (a free one; 29500 with several hosts)")
      ->check(CLI::Range(1, 65535));
  command.add_option("--nnodes", o.nodes, "How many launchers you start by hand, one per host")
      ->check(CLI::Range(1, 1 << 16));
  command.add_option("--node-rank", o.node_rank, "The number of this launcher, from 0")->check(CLI::Range(0, 1 << 16));
  command.add_option("--grace", o.grace, "Seconds between SIGTERM and SIGKILL (5)")->check(CLI::Range(0.0, 86400.0));
}

}  // namespace

void add_run(CLI::App& app, int& exit) {
  CLI::App* command = app.add_subcommand("run", "Start a program as several processes that train together");
  command->footer(kExamples);
  command->prefix_command();
  auto options = std::make_shared<RunOptions>();
  auto is_agent = std::make_shared<bool>(false);
  auto measure = std::make_shared<MeasureOptions>();
  add_options(*command, *options);
  command->add_flag("--measure", measure->on, "Measure sums between the processes instead of running a program");
  command->add_option("--step-ms", measure->step_ms, "With --measure: predict steps that take this long on one rank");
  command->add_option("--gradient-mb", measure->gradient_mb, "With --measure: MB of gradients of such a step");
  command->add_option("--network-us", measure->network_us, "With --measure: latency between hosts (50)");
  command->add_option("--network-gbs", measure->network_gbs, "With --measure: bandwidth between hosts in GB/s (1.25)");
  command->add_option("--backend", measure->backend, "With --measure: gloo, mpi or auto");
  command->add_flag("--measure-rank", measure->worker)->group("");
  command->add_flag("--agent", *is_agent)->group("");
  command->callback([command, options, is_agent, measure, &exit] {
    if (*is_agent) {
      exit = agent();
      return;
    }
    if (measure->worker) {
      measure_as_rank(*measure);
      exit = kAgrees;
      return;
    }
    options->command = command->remaining();
    if (!options->command.empty() && options->command[0] == "--") options->command.erase(options->command.begin());
    HB_CHECK(options->command.empty() || options->command[0][0] != '-', "[run] unknown option '", options->command[0],
             "'");
    exit = run(measure->on ? measuring_run(*options, *measure) : *options);
  });
}

}  // namespace hb::cli
