// What the mixed-precision examples share: the command line, the data, the accuracy.
//   --data DIR   MNIST's IDX files, plain or gzipped; without it the digits that come with Halfbridge, enlarged to
//   28x28
//   --epochs N   passes over the data        --steps N   stop after so many steps of each epoch
#pragma once

#include <torch/torch.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "../demo/images.h"

namespace example {

struct Arguments {
  std::string data;
  int64_t epochs = 3, steps = -1;
};

inline Arguments parse(int argc, char** argv) {
  Arguments args;
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (i + 1 == argc) throw std::invalid_argument("expected a value after " + key);
    if (key == "--data")
      args.data = argv[i + 1];
    else if (key == "--epochs")
      args.epochs = std::stoll(argv[i + 1]);
    else if (key == "--steps")
      args.steps = std::stoll(argv[i + 1]);
    else
      throw std::invalid_argument("expected --data DIR, --epochs N or --steps N, got " + key);
  }
  torch::manual_seed(1);
  return args;
}

/// Images (N, 1, 28, 28) and classes, for training and for testing; at most `steps` batches for training.
inline std::pair<demo::LabelledImages, demo::LabelledImages> load(const Arguments& args, int64_t batch_size) {
  auto sets = args.data.empty() ? demo::hold_back(demo::read_digits(EXAMPLE_DIGITS), 6) : demo::read_mnist(args.data);
  for (auto* set : {&sets.first, &sets.second}) {
    namespace F = torch::nn::functional;
    const auto size = F::InterpolateFuncOptions().size(std::vector<int64_t>{28, 28}).mode(torch::kNearest);
    if (set->side() != 28) set->images = F::interpolate(set->images, size);
  }
  auto& train = sets.first;
  if (args.steps > 0 && args.steps * batch_size < train.size()) {
    train.images = train.images.narrow(0, 0, args.steps * batch_size);
    train.labels = train.labels.narrow(0, 0, args.steps * batch_size);
  }
  return sets;
}

inline auto loader(const demo::LabelledImages& images, int64_t batch_size) {
  return torch::data::make_data_loader(demo::ImageDataset(images).map(torch::data::transforms::Stack<>()),
                                       torch::data::DataLoaderOptions().batch_size(batch_size).drop_last(true));
}

/// Share of the images that `net` gets right.
template <class Net>
double accuracy(Net& net, const demo::LabelledImages& images) {
  torch::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0;
  for (int64_t i = 0; i < images.size(); i += 100) {
    const auto n = std::min<int64_t>(100, images.size() - i);
    right +=
        net(images.images.narrow(0, i, n)).argmax(1).eq(images.labels.narrow(0, i, n)).sum().template item<int64_t>();
  }
  net->train();
  return static_cast<double>(right) / static_cast<double>(images.size());
}

/// For a test: the exit status says whether the loss fell.
class Progress {
 public:
  void epoch(int64_t number, const torch::Tensor& last_loss, double accuracy) {
    last_ = last_loss.item<double>();
    if (number == 1 && first_ == 0) first_ = last_;
    std::printf("epoch %d: loss %.4f, accuracy %.3f\n", static_cast<int>(number), last_, accuracy);
  }
  void first_loss(const torch::Tensor& loss) {
    if (first_ == 0) first_ = loss.item<double>();
  }
  int status() const { return last_ < first_ ? 0 : 1; }

 private:
  double first_ = 0, last_ = 0;
};

}  // namespace example
