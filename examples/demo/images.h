// The demo's data: labelled grey images from a CSV file (UCI digits) or from IDX files (MNIST), plain or
// gzipped.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>

namespace demo {

/// Images (N, 1, side, side), float in [0, 1], and their classes (N), int64.
struct LabelledImages {
  torch::Tensor images, labels;

  int64_t size() const { return images.size(0); }
  int64_t side() const { return images.size(2); }
};

/// Rows of 64 grey levels (0 to 16) and a class. Throws std::runtime_error that names the file and the line.
LabelledImages read_digits(const std::string& path);

/// True if DIR holds MNIST's files: train-images-idx3-ubyte or t10k-images-idx3-ubyte, each may end in .gz.
bool has_mnist(const std::string& dir);

/// MNIST's training images and, held back, its test images; where only the test set is there, a sixth of it.
std::pair<LabelledImages, LabelledImages> read_mnist(const std::string& dir);

/// A part of `all` for training and, held back, one image in `one_in`, spread evenly.
std::pair<LabelledImages, LabelledImages> hold_back(const LabelledImages& all, int64_t one_in);

/// What a DataLoader draws from.
class ImageDataset : public torch::data::datasets::Dataset<ImageDataset> {
 public:
  explicit ImageDataset(LabelledImages all) : all_(std::move(all)) {}
  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {all_.images[i], all_.labels[i]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(all_.size()); }

 private:
  LabelledImages all_;
};

}  // namespace demo
