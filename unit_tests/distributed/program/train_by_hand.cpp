// A program in the manner of LibTorch's users: each rank takes its share of a batch, and gradients are summed by hand.
//   mpirun -n 2 train_by_hand mpi           train_by_hand gloo HOST PORT RANK SIZE
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupMPI.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <iostream>
#include <memory>
#include <string>

struct Model : torch::nn::Module {
  Model()
      : fc1(register_module("fc1", torch::nn::Linear(8, 16))), fc2(register_module("fc2", torch::nn::Linear(16, 4))) {}
  torch::Tensor forward(torch::Tensor x) { return torch::log_softmax(fc2->forward(torch::relu(fc1->forward(x))), 1); }
  torch::nn::Linear fc1, fc2;
};

int main(int argc, char* argv[]) {
  const std::string engine = argc > 1 ? argv[1] : "";
  c10::intrusive_ptr<::c10d::Backend> pg;
  if (engine == "mpi") {
    pg = c10d::ProcessGroupMPI::createProcessGroupMPI();
  } else if (engine == "gloo" && argc == 6) {
    const int rank = std::stoi(argv[4]), size = std::stoi(argv[5]);
    c10d::TCPStoreOptions opts;
    opts.port = static_cast<uint16_t>(std::stoi(argv[3]));
    opts.isServer = rank == 0;
    opts.numWorkers = size;
    auto store = c10::make_intrusive<c10d::TCPStore>(argv[2], opts);
    auto options = c10d::ProcessGroupGloo::Options::create();
    pg = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  } else {
    std::cerr << "usage: train_by_hand mpi | gloo HOST PORT RANK SIZE\n";
    return 2;
  }
  const int rank = pg->getRank(), numranks = pg->getSize();

  torch::manual_seed(0);
  torch::set_num_threads(1);
  const int64_t batch = 32, steps = 50, share = batch / numranks;
  const torch::Tensor inputs = torch::randn({batch * steps, 8}),
                      targets = torch::randint(4, {batch * steps}, torch::kLong);
  auto model = std::make_shared<Model>();
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  double loss_sum = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t begin = step * batch + rank * share;
    model->zero_grad();
    auto output = model->forward(inputs.slice(0, begin, begin + share));
    auto loss = torch::nll_loss(output, targets.slice(0, begin, begin + share));
    loss.backward();
    std::vector<c10::intrusive_ptr<::c10d::Work>> works;
    for (auto& param : model->named_parameters()) {
      std::vector<torch::Tensor> tmp = {param.value().grad()};
      works.push_back(pg->allreduce(tmp));
    }
    for (auto& work : works) {
      try {
        work->wait();
      } catch (const std::exception& ex) {
        std::cerr << "Exception received: " << ex.what() << std::endl;
        pg->abort();
      }
    }
    for (auto& param : model->named_parameters()) param.value().grad().data() = param.value().grad().data() / numranks;
    optimizer.step();
    std::vector<torch::Tensor> total = {loss.detach() / numranks};
    pg->allreduce(total)->wait();
    loss_sum += total[0].item<double>();
  }
  double weights = 0;
  for (auto& p : model->parameters()) weights += p.abs().sum().item<double>();
  if (rank == 0)
    std::cout.precision(9), std::cout << "loss " << loss_sum / steps << " weights " << weights << std::endl;
  pg->barrier()->wait();
}
