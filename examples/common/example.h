// What the mixed-precision examples share: the command line, the data, the accuracy.
//   --data DIR   MNIST's IDX files, plain or gzipped: the 60,000 images for training and the 10,000 for testing; where
//                only the latter are there, five sixths of them are trained on. Without it the 1,797 digits that come
//                with Halfbridge, enlarged to 28x28.
//   --epochs N   passes over the data        --steps N   so many steps of each epoch, and 100 images for testing
//   --device cpu|cuda       where it computes
//   --stem imagenet|cifar   of a ResNet: for images of 224x224, or 32x32; the digits are enlarged to it
//   --width N               channels of a ResNet's first stage, 64 unless given
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
  torch::Device device{torch::kCPU};
  bool cifar = false;  // the stem of a ResNet
  int64_t width = 64;
  int64_t side() const { return cifar ? 32 : 224; }
};

inline Arguments parse(int argc, char** argv, bool has_stem = false) {
  Arguments args;
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (i + 1 == argc) throw std::invalid_argument("expected a value after " + key);
    if (key == "--data")
      args.data = argv[i + 1];
    else if (key == "--epochs")
      args.epochs = std::stoll(argv[i + 1]);
    else if (key == "--device")
      args.device = torch::Device(argv[i + 1]);
    else if (key == "--steps")
      args.steps = std::stoll(argv[i + 1]);
    else if (has_stem && key == "--stem" &&
             (std::string(argv[i + 1]) == "cifar" || std::string(argv[i + 1]) == "imagenet"))
      args.cifar = std::string(argv[i + 1]) == "cifar";
    else if (has_stem && key == "--width")
      args.width = std::stoll(argv[i + 1]);
    else
      throw std::invalid_argument("expected --data DIR, --epochs N, --device cpu|cuda" +
                                  std::string(has_stem ? ", --stem imagenet|cifar, --width N" : "") +
                                  " or --steps N, got " + key + " " + argv[i + 1]);
  }
  torch::manual_seed(1);
  return args;
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
