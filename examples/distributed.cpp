// One model trained by several processes:
//
//   halfbridge run -n 2 --max-restarts 3 ./example_distributed
//
// It runs alone as well, as a group of one. A run that is interrupted goes on from its newest checkpoint.
#include <torch/nn/parallel/distributed.h>
#include <torch/torch.h>

#include <filesystem>
#include <iostream>

namespace dist = hb::distributed;

// Points on two spirals, and which of the two.
std::pair<torch::Tensor, torch::Tensor> example(size_t index) {
  const auto arm = static_cast<int64_t>(index % 2);
  const double t = 0.5 + 3.0 * static_cast<double>(index) / 2000.0,
               angle = 2 * t + 3.14159265 * static_cast<double>(arm);
  return {torch::tensor({t * std::cos(angle), t * std::sin(angle)}, torch::kFloat), torch::tensor(arm)};
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "spirals";
  dist::init();
  if (dist::get_rank() == 0) std::filesystem::create_directories(folder);

  torch::nn::Sequential net(torch::nn::Linear(2, 32), torch::nn::Tanh(), torch::nn::Linear(32, 32), torch::nn::Tanh(),
                            torch::nn::Linear(32, 2));
  torch::nn::parallel::DistributedDataParallel model(net);
  torch::optim::ZeroRedundancyOptimizer<torch::optim::Adam> optimizer(model->parameters(),
                                                                      torch::optim::AdamOptions(1e-2));
  torch::data::samplers::DistributedRandomSampler sampler(2000);  // this rank's share of each epoch

  int64_t first = 0;
  if (const std::string newest = dist::newest_checkpoint(folder, "spirals"); !newest.empty()) {
    dist::load_checkpoint(
        newest,
        [&](torch::serialize::InputArchive& archive) {
          torch::IValue epoch;
          archive.read("epoch", epoch);
          first = epoch.toInt();
          net->load(archive);
        },
        [&](torch::serialize::InputArchive& archive) { optimizer.load(archive); });
  }
  for (int64_t epoch = first; epoch < 20; ++epoch) {
    sampler.set_epoch(static_cast<size_t>(epoch));
    sampler.reset();
    torch::Tensor loss;
    while (const auto batch = sampler.next(50)) {
      std::vector<torch::Tensor> points, arms;
      for (const size_t i : *batch) {
        const auto [point, arm] = example(i);
        points.push_back(point), arms.push_back(arm);
      }
      optimizer.zero_grad();
      loss = torch::nn::functional::cross_entropy(model(torch::stack(points)), torch::stack(arms));
      loss.backward();
      optimizer.step();
    }
    if (dist::get_rank() == 0) std::cout << "epoch " << epoch << ": loss " << loss.item<float>() << std::endl;
    dist::save_checkpoint(
        dist::checkpoint_path(folder, "spirals", epoch + 1),
        [&](torch::serialize::OutputArchive& archive) {
          archive.write("epoch", torch::IValue(epoch + 1));
          net->save(archive);
        },
        [&](torch::serialize::OutputArchive& archive) { optimizer.save(archive); });
  }
  dist::destroy();
}
