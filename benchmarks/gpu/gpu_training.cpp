// gpu_training FILE [small] [TEXT]: milliseconds of training steps and of parts of networks on the CUDA device (rows
// whose name holds TEXT), as JSON. One source, built with LibTorch and with Halfbridge.
#include <dlfcn.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../autocast.h"
#include "../captured.h"
#include "../nets.h"

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using bench::Mode;
using torch::Tensor;
const torch::Device kGpu(torch::kCUDA, 0);

bool small = false;
int64_t at_most(int64_t full, int64_t tiny) { return small ? tiny : full; }

/// Milliseconds of a call: the median of seven rounds, each long enough to hide the wait at its end.
double milliseconds(const std::function<void()>& call) {
  const auto round = [&](int calls) {
    torch::cuda::synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    torch::cuda::synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / calls;
  };
  if (small) return round(1);
  round(4);  // also records what is to be recorded
  const int calls = std::clamp(static_cast<int>(60 / round(3)), 3, 400);
  std::vector<double> rounds;
  for (int i = 0; i < 7; ++i) rounds.push_back(round(calls));
  std::sort(rounds.begin(), rounds.end());
  return rounds[3];
}

struct Row {
  std::string name;
  std::function<std::function<void()>()> prepare;
};

/// A step of `net`, whose results and targets are classes.
template <class Net>
std::function<void()> training(Net net, Tensor x, Tensor y, bool adam, bool half, Mode mode) {
  net->to(kGpu);
  std::shared_ptr<torch::optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_shared<torch::optim::AdamW>(net->parameters(), torch::optim::AdamWOptions(3e-4));
  else
    optimizer = std::make_shared<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const auto step = [=](const Tensor& input, const Tensor& target) mutable {
    optimizer->zero_grad();
    Tensor loss;
    {
      const bench::Autocast autocast(half ? bench::Precision(torch::kBFloat16) : std::nullopt, torch::kCUDA);
      const Tensor out = net->forward(input);
      loss = F::cross_entropy(out.view({-1, out.size(-1)}), target);
    }
    loss.backward();
    optimizer->step();
    return loss;
  };
  return bench::iterate(mode, step, x.to(kGpu), y.to(kGpu));
}

std::function<void()> mlp(Mode mode) {
  const int64_t batch = at_most(64, 2);
  return training(bench::Mlp(), torch::randn({batch, 784}), torch::randint(10, {batch}, torch::kLong), false, false,
                  mode);
}
std::function<void()> resnet(bool half, Mode mode) {
  const int64_t batch = at_most(256, 2);
  return training(bench::ResNet18(), torch::randn({batch, 3, 32, 32}), torch::randint(10, {batch}, torch::kLong), false,
                  half, mode);
}
std::function<void()> gpt(bool half, Mode mode) {
  bench::GptShape shape;
  shape.width = at_most(768, 32), shape.layers = at_most(12, 1), shape.heads = at_most(12, 2);
  shape.length = at_most(1024, 8), shape.vocabulary = at_most(32768, 64), shape.batch = at_most(8, 2);
  return training(bench::Gpt(shape), torch::randint(shape.vocabulary, {shape.batch, shape.length}, torch::kLong),
                  torch::randint(shape.vocabulary, {shape.batch * shape.length}, torch::kLong), true, half, mode);
}

/// Attention of (batch, heads, length, width), forward or with its gradients.
std::function<void()> attention(int64_t length, int64_t width, bool causal, bool backward, torch::Dtype dtype) {
  const auto options = torch::TensorOptions(kGpu).dtype(dtype);
  std::vector<Tensor> in;
  for (int i = 0; i < 4; ++i) in.push_back(torch::randn({4, 16, at_most(length, 32), width}, options));
  for (int i = 0; i < 3; ++i) in[i].requires_grad_(backward);
  return [=] {
    const Tensor out = torch::scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.0, causal);
    if (backward) torch::autograd::grad({out}, {in[0], in[1], in[2]}, {in[3]});
  };
}

/// A function of a matrix of rows, with its gradient.
std::function<void()> of_rows(int64_t rows, int64_t columns, torch::Dtype dtype,
                              const std::function<Tensor(const Tensor&)>& f) {
  const auto x =
      torch::randn({at_most(rows, 8), at_most(columns, 64)}, torch::TensorOptions(kGpu).dtype(dtype)).requires_grad_();
  const Tensor g = torch::randn_like(f(x).detach());
  return [=] { torch::autograd::grad({f(x)}, {x}, {g}); };
}

std::vector<Row> rows() {
  const auto plain = Mode::eager;
  std::vector<Row> all{{"MLP, SGD, batch 64", [=] { return mlp(plain); }},
                       {"ResNet-18, batch 256", [=] { return resnet(false, plain); }},
                       {"ResNet-18, batch 256, bf16", [=] { return resnet(true, plain); }},
                       {"GPT 124M, batch 8", [=] { return gpt(false, plain); }},
                       {"GPT 124M, batch 8, bf16", [=] { return gpt(true, plain); }}};
#if __has_include(<halfbridge/graph.h>)
  all.push_back({"MLP, SGD, batch 64, graph", [=] { return mlp(Mode::graph); }});
  all.push_back({"ResNet-18, batch 256, bf16, graph", [=] { return resnet(true, Mode::graph); }});
  all.push_back({"GPT 124M, batch 8, bf16, graph", [=] { return gpt(true, Mode::graph); }});
#endif
  for (const torch::Dtype t : {torch::kBFloat16, torch::kFloat})
    for (const bool backward : {false, true})
      for (const bool causal : {false, true})
        for (const int64_t width : {64, 128})
          all.push_back({std::string("attention 4x16x2048x") + std::to_string(width) + (causal ? ", causal" : "") +
                             (backward ? ", with gradients" : "") + (t == torch::kFloat ? ", f32" : ""),
                         [=] { return attention(2048, width, causal, backward, t); }});
  for (const torch::Dtype t : {torch::kFloat, torch::kBFloat16}) {
    const std::string type = t == torch::kFloat ? " f32" : " bf16";
    const auto add = [&](const std::string& name, int64_t n, int64_t m, const std::function<Tensor(const Tensor&)>& f) {
      all.push_back({name + type, [=] { return of_rows(n, m, t, f); }});
    };
    add("layer_norm 8192x4096", 8192, 4096, [](const Tensor& x) { return torch::layer_norm(x, {x.size(1)}); });
    add("softmax 8192x4096", 8192, 4096, [](const Tensor& x) { return x.softmax(1); });
    add("gelu 8192x4096", 8192, 4096, [](const Tensor& x) { return torch::gelu(x); });
    add("sum of columns 8192x4096", 8192, 4096, [](const Tensor& x) { return x.sum(0); });
    add("transpose 8192x4096", 8192, 4096, [](const Tensor& x) { return x.t().contiguous(); });
    add("cumsum 8192x4096", 8192, 4096, [](const Tensor& x) { return x.cumsum(1); });
    add("sort 1024x4096", 1024, 4096, [](const Tensor& x) { return std::get<0>(x.sort(1)); });
    add("cross_entropy 8192x32768", 8192, 32768, [](const Tensor& x) {
      return F::cross_entropy(x, torch::arange(x.size(0), x.options().dtype(torch::kLong)).remainder(x.size(1)));
    });
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
#if !__has_include(<halfbridge/graph.h>)
  // LibTorch's CUDA functions register themselves.
  if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) std::cerr << dlerror() << "\n";
#endif
  if (argc < 2 || !torch::cuda::is_available()) {
    std::cerr << "usage: gpu_training FILE [small] [TEXT], where there is a GPU\n";
    return 2;
  }
  small = argc > 2 && std::strcmp(argv[2], "small") == 0;
  const std::string only = argc > 2 + small ? argv[2 + small] : "";
  std::ofstream out(argv[1]);
  const char* between = "{";
  for (const Row& row : rows()) {
    if (row.name.find(only) == std::string::npos) continue;
    torch::manual_seed(1);
    try {
      const double ms = milliseconds(row.prepare());
      out << between << '"' << row.name << "\": " << ms << std::flush;
      between = ",\n ";
    } catch (const std::exception& e) {
      std::cerr << row.name << ": " << e.what() << "\n";
    }
  }
  out << "}\n";
  return out.flush() ? 0 : 1;
}
