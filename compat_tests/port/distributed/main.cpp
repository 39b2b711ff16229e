// A program that trains in several processes: sums gradients with c10d, through its namespace and through aliases.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/torch.h>

#include <vector>

namespace dist = c10d;

void sum_gradients(const c10::intrusive_ptr<c10d::Backend>& group, torch::nn::Linear& net) {
  std::vector<c10::intrusive_ptr<::c10d::Work>> works;
  for (auto& p : net->parameters()) {
    std::vector<torch::Tensor> grads{p.grad()};
    dist::AllreduceOptions options;
    options.reduceOp = dist::ReduceOp::SUM;
    works.push_back(group->allreduce(grads, options));
  }
  for (auto& work : works) work->wait();
}

using namespace c10d;

struct Ranks {
  int rank, size;
};

int main() {
  const Ranks ranks{0, 1};
  auto store = c10::make_intrusive<FileStore>("store", ranks.size);
  auto options = ProcessGroupGloo::Options::create();
  options->devices.push_back(ProcessGroupGloo::createDefaultDevice());
  auto group = c10::make_intrusive<ProcessGroupGloo>(store, ranks.rank, ranks.size, options);
  torch::nn::Linear net(2, 2);
  net(torch::ones({1, 2})).sum().backward();
  sum_gradients(group, net);
  c10::intrusive_ptr<c10d::ProcessGroup> all = c10::make_intrusive<ProcessGroup>(store, ranks.rank, ranks.size);
  all->setBackend(torch::kCPU, ProcessGroup::BackendType::GLOO, c10::intrusive_ptr<c10d::Backend>(group));
  c10d::ProcessGroupUCC* other = nullptr;
  torch::distributed::rpc::RpcAgent::getCurrentRpcAgent();
}
