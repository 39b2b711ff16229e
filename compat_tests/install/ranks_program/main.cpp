// Data parallel training of a stranger: trains BACKEND TRANSPORT. Fails unless the ranks have equal weights and that
// transport.
#include <torch/nn/parallel/distributed.h>
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <halfbridge/distributed/engine_backend.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  namespace dist = hb::distributed;
  dist::init(argv[1]);
  const auto group = dist::default_group();
  const auto backend = group->getBackend(torch::kCPU);
  const auto* engine = dynamic_cast<dist::EngineBackend*>(backend.get());
  const std::string transport = engine ? engine->transport() : "";
  if (group->getSize() != 2 || transport.find(argv[2]) == std::string::npos) {
    std::cerr << "expected 2 ranks over " << argv[2] << ", got " << group->getSize() << " over " << transport << '\n';
    return 1;
  }
  torch::manual_seed(1 + group->getRank());
  torch::nn::Sequential net(torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Linear(16, 1));
  torch::nn::parallel::DistributedDataParallel model(net);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  const auto x = torch::randn({32, 8});
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    auto loss = (model(x) - x.sum(1, true)).pow(2).mean();
    loss.backward();
    optimizer.step();
    std::vector<torch::Tensor> sum{loss.detach().clone()};
    group->allreduce(sum)->wait();
    last = sum[0].item<double>() / 2;
    if (step == 0) first = last;
  }
  dist::check_equal_on_all_ranks(*group, net->parameters());
  if (group->getRank() == 0) std::cout << transport << ": loss " << first << " to " << last << '\n';
  dist::destroy();
  return last < first ? 0 : 1;
}
