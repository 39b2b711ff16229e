#pragma once
// The datasets that come with the library.

#include <string>
#include <vector>

#include <halfbridge/bridge/data/chunk.h>
#include <halfbridge/bridge/data/dataset.h>

namespace hb::bridge::data::datasets {

/// The slices of one tensor along its first dimension.
struct HB_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  /// Stacks tensors of one shape.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  explicit TensorDataset(Tensor tensor);
  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;

  Tensor tensor;
};
extern template class Dataset<TensorDataset, TensorExample>;

/// The MNIST digits, read from the four IDX files (plain, or gzipped with .gz behind their names) in a folder:
/// {train,t10k}-{images-idx3,labels-idx1}-ubyte. Images are float in [0, 1], (N, 1, 28, 28); targets int64.
/// Throws hb::Error for missing or malformed files.
class HB_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return train_; }
  /// All images, and all targets, in one tensor.
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
  bool train_;
};
extern template class Dataset<MNIST>;

}  // namespace hb::bridge::data::datasets
