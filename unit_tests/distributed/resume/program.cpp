// Trains, saves every few steps, goes on from the newest checkpoint, and kills itself where it is told to:
//   resume_program FOLDER [RANK STEP forward|backward|collective|save]
// Rank 0 prints the loss of each step, exactly.
#include <signal.h>
#include <torch/nn/parallel/distributed.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace dist = hb::distributed;

namespace {

struct Death {
  int rank = -1;
  int64_t step = -1;
  std::string where;
};

int64_t now = 0;
Death death;

void die_in(const char* where) {
  const char* restarts = std::getenv("TORCHELASTIC_RESTART_COUNT");
  const bool first = !restarts || std::string(restarts) == "0";
  if (first && death.rank == dist::get_rank() && death.step == now && death.where == where) ::kill(::getpid(), SIGKILL);
}

torch::Tensor drawn(int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(seed));
  return torch::randn({8, 10});
}

void train(const std::string& folder) {
  torch::nn::Sequential net(torch::nn::Linear(10, 16), torch::nn::Tanh(), torch::nn::Dropout(0.1),
                            torch::nn::Linear(16, 1));
  torch::nn::parallel::DistributedDataParallel model(net);
  torch::optim::ZeroRedundancyOptimizer<torch::optim::Adam> optimizer(net->parameters(),
                                                                      torch::optim::AdamOptions(1e-2));
  model->register_comm_hook([](const dist::GradBucket& bucket) {
    auto finish = dist::allreduce_hook(bucket);
    die_in("collective");
    return finish;
  });
  net->parameters()[0].register_hook([](torch::Tensor) { die_in("backward"); });

  int64_t first = 0;
  const std::string newest = dist::newest_checkpoint(folder, "run");
  if (!newest.empty())
    dist::load_checkpoint(
        newest,
        [&](torch::serialize::InputArchive& a) {
          torch::IValue step;
          a.read("step", step);
          first = step.toInt();
          net->load(a);
        },
        [&](torch::serialize::InputArchive& a) { optimizer.load(a); });
  for (now = first; now < 20; ++now) {
    if (now % 5 == 0 && now > first)
      dist::save_checkpoint(
          dist::checkpoint_path(folder, "run", now),
          [&](torch::serialize::OutputArchive& a) {
            a.write("step", torch::IValue(now));
            net->save(a);
            die_in("save");
          },
          [&](torch::serialize::OutputArchive& a) {
            optimizer.save(a);
            if (dist::get_rank() > 0) die_in("save");
          });
    if (const char* pace = std::getenv("HALFBRIDGE_TEST_STEP_MS"))
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(pace)));
    optimizer.zero_grad();
    const torch::Tensor x = drawn(100 * now + dist::get_rank());
    die_in("forward");
    const torch::Tensor loss = (model(x) - x.sum(1, true)).pow(2).mean();
    loss.backward();
    optimizer.step();
    const torch::Tensor mean = loss.detach().clone();
    dist::all_reduce(*dist::default_group(), mean);
    if (dist::get_rank() == 0) std::printf("step %ld loss %a\n", static_cast<long>(now), mean.item<double>());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) death = {std::atoi(argv[2]), std::atoll(argv[3]), argv[4]};
  dist::InitOptions options;
  const char* deadline = std::getenv("HALFBRIDGE_TEST_DEADLINE_MS");
  options.timeout = std::chrono::milliseconds(deadline ? std::atoi(deadline) : 30000);
  dist::init("auto", options);
  train(argv[1]);
  dist::destroy();
}
