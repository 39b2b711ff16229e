// What a trace costs: a training step of a model of 100 MB with and without one, in turn. Built with LibTorch
// (hb::capture) and with Halfbridge (hb::trace::Session).
//
//   trace_cost_libtorch [folder] [rounds]
//
// A traced step is a session of one step with everything in it: opening and completing the files too. Memory is how
// much the process's peak grew beyond that of the untraced steps.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <sys/resource.h>

#ifdef HALFBRIDGE_CAPTURE
#include <halfbridge/capture_libtorch.h>
#else
#include <halfbridge/trace/session.h>
#endif

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}
uintmax_t bytes_of(const std::string& folder) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

struct Model {
  const char* name;
  torch::nn::Sequential net;
  torch::Tensor x, y;
};

// 26 million parameters.
Model mlp() {
  torch::nn::Sequential net;
  for (int i = 0; i < 6; ++i) net->push_back(torch::nn::Linear(2048, 2048)), net->push_back(torch::nn::ReLU());
  net->push_back(torch::nn::Linear(2048, 100));
  return {"mlp, batch 512", net, torch::randn({512, 2048}), torch::randint(0, 100, {512}, torch::kLong)};
}
// 25 million parameters: 3x3 convolutions of 256 to 768 channels.
Model conv() {
  torch::nn::Sequential net;
  int64_t channels = 3;
  for (int64_t next : {64, 256, 512, 768, 768, 768}) {
    net->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, next, 3).padding(1).bias(false)));
    net->push_back(torch::nn::BatchNorm2d(next));
    net->push_back(torch::nn::ReLU());
    if (next != 768 || channels == 512) net->push_back(torch::nn::MaxPool2d(2));
    channels = next;
  }
  net->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, 1024, 3).padding(1)));
  net->push_back(torch::nn::AdaptiveAvgPool2d(1)), net->push_back(torch::nn::Flatten());
  net->push_back(torch::nn::Linear(1024, 100));
  return {"conv, batch 16", net, torch::randn({16, 3, 64, 64}), torch::randint(0, 100, {16}, torch::kLong)};
}

#ifdef HALFBRIDGE_CAPTURE
hb::trace::Capture trace_of(const Model& model, torch::optim::Optimizer& optimizer, const std::string& folder) {
  hb::trace::Capture trace = hb::capture(*model.net, folder, hb::trace::Options());
  trace.watch(optimizer);
  return trace;
}
#else
hb::trace::Session trace_of(const Model& model, torch::optim::Optimizer&, const std::string& folder) {
  return hb::trace::Session(folder, {model.net.ptr()}, hb::trace::SessionOptions());
}
#endif

void measure(Model model, const std::string& folder, int rounds) {
  int64_t parameters = 0;
  for (const auto& p : model.net->parameters()) parameters += p.numel();
  torch::optim::SGD optimizer(model.net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const auto step = [&] {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(model.net->forward(model.x), model.y).backward();
    optimizer.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const double before = peak_megabytes();
  std::vector<double> plain, traced;
  for (int i = 0; i < rounds; ++i) {
    plain.push_back(seconds_of(step));
    std::filesystem::remove_all(folder);  // or the next session would do it
    traced.push_back(seconds_of([&] {
      const auto trace = trace_of(model, optimizer, folder);
      step();
    }));
  }
  std::printf("%-16s %5.1f M parameters  step %7.1f ms  traced %7.1f ms  ratio %.2f  trace %6.1f MB  memory +%.0f MB\n",
              model.name, static_cast<double>(parameters) / 1e6, median(plain) * 1e3, median(traced) * 1e3,
              median(traced) / median(plain), static_cast<double>(bytes_of(folder)) / 1e6, peak_megabytes() - before);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder =
      argc > 1 ? argv[1] : (std::filesystem::temp_directory_path() / "halfbridge_trace_cost").string();
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  std::filesystem::create_directories(folder);
  torch::manual_seed(1);
  measure(mlp(), folder, rounds);
  measure(conv(), folder, rounds);
  std::filesystem::remove_all(folder);
}
