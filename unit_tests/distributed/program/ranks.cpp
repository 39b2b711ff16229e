// One rank of a group, for tests in which ranks die: ranks SCENARIO STORE RANK SIZE TIMEOUT_MS. Prints "ready" when it
// has met the others, and an error that it gets.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupMPI.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <torch/torch.h>
#include <unistd.h>

#include <halfbridge/distributed/cost_model.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "distributed/checks.h"
#include "distributed/program/forbid_reach.h"

namespace {

using Group = c10::intrusive_ptr<c10d::Backend>;

void allreduce(const Group& group, int64_t n) {
  std::vector<torch::Tensor> tensors{checks::full({n}, 1)};
  const auto work = group->allreduce(tensors);
  work->wait();
  if (!checks::on_gpu()) return;
  tensors[0].cpu();  // which is there when the sum is, or has failed
  work->wait();
}

/// The median seconds of a sum.
double seconds(const Group& group, int64_t bytes) {
  std::vector<torch::Tensor> tensors{torch::zeros({bytes / 4})};
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    group->barrier()->wait();
    const auto begin = std::chrono::steady_clock::now();
    group->allreduce(tensors)->wait();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[3];
}

/// The link within a host and that between two, from sums of two ranks each, against the sum of all four by two levels.
void compare_costs(const Group& group, const c10::intrusive_ptr<c10d::Store>& store) {
  namespace dist = hb::distributed;
  const int rank = group->getRank();
  const auto link = [&](const std::vector<int>& ranks, const std::string& name) {
    const auto own = c10::make_intrusive<c10d::PrefixStore>(name, store);
    const auto pair = group->split(own, ranks, group->getBackendOptions());
    std::vector<std::pair<double, double>> measured;
    for (const int64_t bytes : {64 << 10, 1 << 20}) measured.emplace_back(bytes, seconds(pair, bytes));
    return dist::fit_link(measured, 2);
  };
  const auto inside = link(rank < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3}, rank < 2 ? "left" : "right");
  dist::Link between;
  if (rank % 2 == 0) between = link({0, 2}, "between");
  constexpr int64_t kBytes = 4 << 20;
  const double took = seconds(group, kBytes), predicted = dist::two_level_seconds(inside, between, 2, 2, kBytes);
  if (rank == 0) std::printf("between %g measured over predicted %g\n", between.bandwidth, took / predicted);
  group->barrier()->wait();
}

void act(const std::string& scenario, const Group& group, const c10::intrusive_ptr<c10d::Store>& store) {
  const bool odd = group->getRank() == 1;
  if (scenario == "check") return checks::check_all(*group);
  if (scenario == "check_two_levels") {
    const auto name = dynamic_cast<c10d::ProcessGroupGloo&>(*group).transport();
    if (name != "shared memory and Gloo (TCP)") throw checks::Failure("not two levels, but " + name);
    return checks::check_all(*group);
  }
  if (scenario == "cost") return compare_costs(group, store);
  if (scenario == "large" || scenario == "large_out_of_reach") {
    std::vector<torch::Tensor> tensors{torch::ones({2000000})};
    group->allreduce(tensors)->wait();
    checks::expect_equal(tensors[0], torch::full({2000000}, double(group->getSize())), "large allreduce");
  }
  if (scenario == "forever")
    for (;;) allreduce(group, 100000);
  if (scenario == "forever_large")
    for (;;) allreduce(group, 5000000);
  if (scenario == "pauses") {
    // Rank 1 does not come.
    allreduce(group, 10);
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(20));
    allreduce(group, 10);
  }
  if (scenario == "never") {
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(20));
    allreduce(group, 3);
  }
  if (scenario == "forks") {
    // A child of rank 1 lives on when it is killed.
    if (odd && fork() == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(6));
      _exit(0);
    }
    for (;;) allreduce(group, 1000);
  }
  if (scenario == "other_call") {
    std::vector<torch::Tensor> tensors{checks::full({3}, 1)};
    if (odd)
      group->broadcast(tensors)->wait();
    else
      allreduce(group, 3);
  }
  if (scenario == "other_shape") allreduce(group, odd ? 4 : 3);
  if (scenario == "message") {
    std::vector<torch::Tensor> tensors{torch::ones({3})};
    if (!odd) group->recv(tensors, 1, 0)->wait();
    std::this_thread::sleep_for(std::chrono::seconds(20));
  }
  if (scenario == "monitored") {
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(20));
    group->monitoredBarrier(c10d::BarrierOptions(), true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::set_num_threads(1);
  const std::string scenario = argv[1], path = argv[2];
  try {
    // One rank suffices.
    if (scenario == "large_out_of_reach" && std::stoi(argv[3]) == 1 && !forbid_reach())
      throw checks::Failure("no filter");
    Group group;
    c10::intrusive_ptr<c10d::Store> store;
    if (path == "mpi") {
      group = c10d::ProcessGroupMPI::createProcessGroupMPI();
    } else {
      store = c10::make_intrusive<c10d::FileStore>(path, std::stoi(argv[4]));
      store->setTimeout(std::chrono::seconds(20));
      const int rank = std::stoi(argv[3]), size = std::stoi(argv[4]);
      const std::chrono::milliseconds timeout(std::stoi(argv[5]));
      const char* engine = std::getenv("HALFBRIDGE_TEST_ENGINE");
      if (engine && std::string(engine) == "nccl") {
        checks::device() = torch::kCUDA;
        auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = timeout;
        group = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
      } else {
        group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size,
                                                            c10d::ProcessGroupGloo::Options::create(timeout));
      }
    }
    std::printf("ready\n");
    std::fflush(stdout);
    act(scenario, group, store);
    std::printf("done\n");
    return 0;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    _exit(3);
  }
}
