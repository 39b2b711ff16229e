#pragma once
// The digits of data/digits.csv.gz as tensors, and a small net that learns them.

#include <torch/torch.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <zlib.h>

namespace digits {

struct Data {
  torch::Tensor images;  // (n, 64), from 0 to 1
  torch::Tensor labels;  // (n), int64
};

inline Data read() {
  gzFile file = gzopen(HALFBRIDGE_TEST_DATA "/digits.csv.gz", "rb");
  if (!file) throw std::runtime_error("could not open digits.csv.gz");
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  char line[1024];
  while (gzgets(file, line, sizeof line)) {
    char* at = line;
    for (int i = 0; i < 64; ++i, ++at) pixels.push_back(static_cast<float>(std::strtol(at, &at, 10)) / 16.0f);
    labels.push_back(std::strtol(at, &at, 10));
  }
  gzclose(file);
  const auto n = static_cast<int64_t>(labels.size());
  return {torch::tensor(pixels).view({n, 64}), torch::tensor(labels)};
}

inline const Data& data() {
  static const Data all = read();
  return all;
}

/// Batch `number` of 64 in the file's order, from the beginning again after the last whole one.
inline Data batch(int64_t number) {
  const int64_t count = data().labels.size(0) / 64, from = number % count * 64;
  return {data().images.slice(0, from, from + 64), data().labels.slice(0, from, from + 64)};
}

struct NetImpl : torch::nn::Module {
  NetImpl()
      : hidden(register_module("hidden", torch::nn::Linear(64, 32))),
        out(register_module("out", torch::nn::Linear(32, 10))) {}
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(hidden(x))); }
  torch::nn::Linear hidden, out;
};
TORCH_MODULE(Net);

/// The mean loss of a net in half precision, computed in float from its outputs.
inline torch::Tensor half_loss(Net& net, const Data& batch, torch::Dtype dtype = torch::kHalf) {
  torch::Tensor logits;
  {
    torch::autocast guard(torch::kCPU, dtype);
    logits = net(batch.images);
  }
  return torch::nn::functional::cross_entropy(logits.to(torch::kFloat), batch.labels);
}

}  // namespace digits
