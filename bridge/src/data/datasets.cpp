#include <halfbridge/bridge/data/datasets.h>

#include <filesystem>
#include <sstream>

#include <halfbridge/io/idx.h>
#include <halfbridge/ops.h>

namespace hb::bridge::data::datasets {

template class Dataset<TensorDataset, TensorExample>;
template class Dataset<MNIST>;

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(hb::stack(tensors)) {}
TensorDataset::TensorDataset(Tensor t) : tensor(std::move(t)) {}
TensorExample TensorDataset::get(size_t index) { return tensor.select(0, static_cast<int64_t>(index)); }
std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }

ChunkDatasetOptions::ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size,
                                         size_t cross_chunk_shuffle_count)
    : preloader_count_(preloader_count),
      batch_size_(batch_size),
      cache_size_(cache_size),
      cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
  HB_CHECK(preloader_count > 0, "Preloader count is 0. At least one preloader needs to be specified.");
  HB_CHECK(batch_size > 0, "Batch size is 0. A positive batch size needs to be specified.");
  HB_CHECK(cache_size > 0, "Cache size is 0. A positive cache size needs to be specified.");
  HB_CHECK(cache_size >= batch_size,
           "Cache size is less than batch size. Cache needs to be large enough to hold at least one batch.");
  HB_CHECK(cross_chunk_shuffle_count > 0, "cross_chunk_shuffle_count needs to be greater than 0.");
}

namespace {

/// The bytes of a file as a tensor of its shape; `dims`: how many dimensions it must have.
Tensor read_bytes(const std::string& root, const char* file, size_t dims) {
  const std::string path = root + (root.empty() || root.back() == '/' ? "" : "/") + file;
  HB_CHECK(std::filesystem::exists(path) || std::filesystem::exists(path + ".gz"), "[MNIST] Error opening ",
           dims == 3 ? "images" : "targets", " file at ", path);
  const io::IdxArray array = io::read_idx(path);
  std::ostringstream shape;
  shape << IntArrayRef(array.shape);
  HB_CHECK(array.type == io::IdxType::UInt8 && array.shape.size() == dims, "[MNIST] expected ", dims,
           "-dimensional unsigned bytes in ", path, ", got shape ", shape.str(), " of IDX type ",
           static_cast<int>(array.type));
  Tensor bytes = empty(array.shape, TensorOptions(kByte).device(kCPU));
  std::copy(array.bytes.begin(), array.bytes.end(), bytes.data_ptr<uint8_t>());
  return bytes;
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : train_(mode == Mode::kTrain) {
  const Tensor images = read_bytes(root, train_ ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 3);
  const Tensor targets = read_bytes(root, train_ ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", 1);
  HB_CHECK(images.size(0) == targets.size(0), "[MNIST] expected as many images as labels in ", root, ", got ",
           images.size(0), " and ", targets.size(0));
  images_ = images.unsqueeze(1).to(kFloat).div_(255);
  targets_ = targets.to(kLong);
}

Example<> MNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_.select(0, i), targets_.select(0, i)};
}
std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace hb::bridge::data::datasets
