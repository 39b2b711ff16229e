// What the mixed-precision examples share: the command line, the data, the accuracy.
#pragma once

#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "../demo/images.h"

namespace example {

struct Arguments {
  std::string data;
  int64_t epochs = 3, steps = -1;
  torch::Device device{torch::kCPU};
  bool cifar = false;  // the stem of a ResNet
  int64_t width = 64;
  int64_t side() const { return cifar ? 32 : 224; }
};

/// Reads the command line and seeds the random numbers. Ends the process after --help, and after what it does not know.
Arguments parse(int argc, char** argv, bool has_stem = false);

/// Says what went wrong; the exit status for it.
inline int failed(const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

/// As torch::data::transforms::Normalize<>(0.1307, 0.3081), which are MNIST's mean and deviation.
inline void normalize(torch::Tensor images) { images.sub_(0.1307).div_(0.3081); }

/// Images (N, 1, side, side) of another size.
inline torch::Tensor resized(const torch::Tensor& images, int64_t side) {
  namespace F = torch::nn::functional;
  if (images.size(2) == side) return images;
  return F::interpolate(images,
                        F::InterpolateFuncOptions().size(std::vector<int64_t>{side, side}).mode(torch::kNearest));
}

/// Images (N, 1, 28, 28), normalized, and classes, for training and for testing; where
/// `steps` is set, so many batches and 100 images.
inline std::pair<demo::LabelledImages, demo::LabelledImages> load(const Arguments& args, int64_t batch_size) {
  auto sets = args.data.empty() ? demo::hold_back(demo::read_digits(EXAMPLE_DIGITS), 6) : demo::read_mnist(args.data);
  for (auto* set : {&sets.first, &sets.second}) {
    set->images = resized(set->images, 28);
    normalize(set->images);
  }
  const auto keep = [](demo::LabelledImages& set, int64_t n) {
    if (n >= set.size()) return;
    set.images = set.images.narrow(0, 0, n);
    set.labels = set.labels.narrow(0, 0, n);
  };
  if (args.steps > 0) {
    keep(sets.first, args.steps * batch_size);
    keep(sets.second, 100);
  }
  return sets;
}

/// Batches of images (batch_size, 1, side, side), shuffled.
inline auto loader(const demo::LabelledImages& images, int64_t batch_size, int64_t side = 28) {
  using Example = torch::data::Example<>;
  auto resize = [side](Example example) {
    return Example(resized(example.data.unsqueeze(0), side).squeeze(0), example.target);
  };
  return torch::data::make_data_loader(demo::ImageDataset(images)
                                           .map(torch::data::transforms::Lambda<Example>(resize))
                                           .map(torch::data::transforms::Stack<>()),
                                       torch::data::DataLoaderOptions().batch_size(batch_size).drop_last(true));
}

/// Share of the images that `net` gets right, on the device of its parameters.
template <class Net>
double accuracy(Net& net, const demo::LabelledImages& images, int64_t side = 28) {
  torch::NoGradGuard no_grad;
  net->eval();
  const auto device = net->parameters()[0].device();
  int64_t right = 0;
  for (int64_t i = 0; i < images.size(); i += 100) {
    const auto n = std::min<int64_t>(100, images.size() - i);
    const auto classes = net(resized(images.images.narrow(0, i, n), side).to(device)).argmax(1).cpu();
    right += classes.eq(images.labels.narrow(0, i, n)).sum().template item<int64_t>();
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
