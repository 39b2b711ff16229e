// One rank of a group, for tests in which ranks die: ranks SCENARIO STORE RANK SIZE TIMEOUT_MS. Prints "ready" when it
// has met the others, and an error that it gets.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupMPI.hpp>

#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "distributed/checks.h"

namespace {

using Group = c10::intrusive_ptr<c10d::Backend>;

void allreduce(const Group& group, int64_t n) {
  std::vector<torch::Tensor> tensors{torch::ones({n})};
  group->allreduce(tensors)->wait();
}

void act(const std::string& scenario, const Group& group) {
  const bool odd = group->getRank() == 1;
  if (scenario == "check") return checks::check_all(*group);
  if (scenario == "forever")
    for (;;) allreduce(group, 100000);
  if (scenario == "pauses") {
    // Rank 1 does not come.
    allreduce(group, 10);
    if (odd) std::this_thread::sleep_for(std::chrono::seconds(20));
    allreduce(group, 10);
  }
  if (scenario == "other_call") {
    std::vector<torch::Tensor> tensors{torch::ones({3})};
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
    Group group;
    if (path == "mpi") {
      group = c10d::ProcessGroupMPI::createProcessGroupMPI();
    } else {
      const auto store = c10::make_intrusive<c10d::FileStore>(path, std::stoi(argv[4]));
      store->setTimeout(std::chrono::seconds(20));
      const auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::milliseconds(std::stoi(argv[5])));
      group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, std::stoi(argv[3]), std::stoi(argv[4]), options);
    }
    std::printf("ready\n");
    std::fflush(stdout);
    act(scenario, group);
    std::printf("done\n");
    return 0;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    _exit(3);
  }
}
