#include <halfbridge/bridge/data/options.h>
#include <halfbridge/bridge/data/transforms.h>
#include <halfbridge/ops.h>

namespace hb::bridge::data {

WorkerException::WorkerException(std::exception_ptr original)
    : original_exception(std::move(original)), message("Caught exception in DataLoader worker thread.") {
  try {
    std::rethrow_exception(original_exception);
  } catch (const std::exception& e) {
    message += " Original message: ";
    message += e.what();
  } catch (...) {
    // Something that is not a std::exception has no text; it is in original_exception.
  }
}
WorkerException::~WorkerException() = default;

namespace transforms {

namespace detail {
Tensor channel_values(ArrayRef<double> values) {
  Tensor channels = empty({static_cast<int64_t>(values.size()), 1, 1}, TensorOptions(kFloat).device(kCPU));
  std::copy(values.begin(), values.end(), channels.data_ptr<float>());
  return channels;
}
Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev) {
  return input.sub(mean.to(input.device())).div(stddev.to(input.device()));
}
}  // namespace detail

}  // namespace transforms
}  // namespace hb::bridge::data

namespace torch::data::transforms {

using hb::Tensor;
using hb::bridge::data::Example;
using hb::bridge::data::TensorExample;

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (auto& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {hb::stack(data), hb::stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (auto& example : examples) data.push_back(std::move(example.data));
  return hb::stack(data);
}

}  // namespace torch::data::transforms
