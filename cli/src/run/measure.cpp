#include "measure.h"

#include <fmt/format.h>
#include <halfbridge/distributed/cost_model.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>
#include <halfbridge/error.h>
#include <halfbridge/ops/factories.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace hb::cli {

namespace {

using distributed::Link;
using distributed::ProcessGroup;

double seconds_of_sum(ProcessGroup& group, int64_t bytes) {
  using Clock = std::chrono::steady_clock;
  const Tensor values = zeros({std::max<int64_t>(bytes / 4, 1)}, kFloat);
  const int rounds = bytes < (1 << 20) ? 200 : 20;
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto began = Clock::now();
    distributed::all_reduce(group, values);
    const double own = std::chrono::duration<double>(Clock::now() - began).count();
    if (i > 2) best = std::min(best, own);
  }
  const Tensor slowest = full({1}, best, kDouble);
  distributed::all_reduce(group, slowest, distributed::ReduceOp::MAX);
  return slowest.item<double>();
}

void print_predictions(const Link& link, const MeasureOptions& options) {
  distributed::StepCost cost;
  cost.compute = options.step_ms / 1000, cost.gradient_bytes = options.gradient_mb * 1e6;
  cost.cores = static_cast<int>(std::thread::hardware_concurrency());
  const Link network{options.network_us * 1e-6, options.network_gbs * 1e9};
  fmt::print("\nA step of {} ms with {} MB of gradients, one thread per rank, on hosts of {} cores like this one\n",
             options.step_ms, options.gradient_mb, cost.cores);
  fmt::print("(between hosts {} us and {} GB/s: --network-us, --network-gbs):\n", options.network_us,
             options.network_gbs);
  fmt::print("  ranks  hosts   step (ms)   throughput   all on this host (ms)\n");
  for (int ranks = 1; ranks <= 64; ranks *= 2) {
    const int per_host = std::min(ranks, std::max(cost.cores, 1)), hosts = (ranks + per_host - 1) / per_host;
    const double step = predicted_step(cost, link, network, per_host, hosts);
    fmt::print("  {:5}  {:5}   {:9.2f}   {:9.2f}x   {:21.2f}\n", ranks, hosts, 1e3 * step, ranks * cost.compute / step,
               1e3 * predicted_step(cost, link, ranks));
  }
}

}  // namespace

RunOptions measuring_run(RunOptions run, const MeasureOptions& options) {
  HB_CHECK(run.command.empty(), "[run] expected --measure without a program, got '", run.command[0], "'");
  run.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                 "run",
                 "--measure-rank",
                 "--backend",
                 options.backend,
                 "--step-ms",
                 fmt::format("{}", options.step_ms),
                 "--gradient-mb",
                 fmt::format("{}", options.gradient_mb),
                 "--network-us",
                 fmt::format("{}", options.network_us),
                 "--network-gbs",
                 fmt::format("{}", options.network_gbs)};
  return run;
}

void measure_as_rank(const MeasureOptions& options) {
  distributed::init(options.backend);
  const auto group = distributed::default_group();
  HB_CHECK(group->getSize() > 1, "[run] expected two processes or more to measure, got one: -n 2");
  std::vector<std::pair<double, double>> measured;
  const bool first = group->getRank() == 0;
  if (first) fmt::print("sum of float32 on {} ranks\n      bytes   microseconds\n", group->getSize());
  for (int64_t bytes = 4096; bytes <= (32 << 20); bytes *= 4) {
    measured.emplace_back(static_cast<double>(bytes), seconds_of_sum(*group, bytes));
    if (first) fmt::print("  {:9}   {:12.1f}\n", bytes, 1e6 * measured.back().second);
  }
  const Link link = distributed::fit_link(measured, group->getSize());
  if (first) {
    fmt::print("latency {:.2f} us, bandwidth {:.2f} GB/s of a link\n", 1e6 * link.latency, 1e-9 * link.bandwidth);
    if (options.step_ms > 0) print_predictions(link, options);
  }
  distributed::destroy();
}

}  // namespace hb::cli
