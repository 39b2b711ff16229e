#pragma once
// What can be applied to the batches of a dataset.

#include <functional>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/example.h>

namespace hb::bridge::data::transforms {

/// Turns a batch into a batch.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

/// Turns each example of a batch into another.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    for (auto& input : input_batch) output_batch.push_back(apply(std::move(input)));
    return output_batch;
  }
};

/// A BatchTransform made of a function.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using typename BatchTransform<Input, Output>::InputBatchType;
  using typename BatchTransform<Input, Output>::OutputBatchType;
  using FunctionType = std::function<OutputBatchType(InputBatchType)>;

  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  OutputBatchType apply_batch(InputBatchType input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};

/// A Transform made of a function.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using typename Transform<Input, Output>::InputType;
  using typename Transform<Input, Output>::OutputType;
  using FunctionType = std::function<Output(Input)>;

  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  OutputType apply(InputType input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// A transform that makes one value of a batch.
template <class T, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

}  // namespace hb::bridge::data::transforms

// Programs specialise it for examples of their own, which is done in the namespace that declares it.
namespace torch::data::transforms {

/// Stacks the tensors of a batch along a new first dimension.
template <class T = hb::bridge::data::Example<>>
struct Stack;
template <>
struct HB_API Stack<hb::bridge::data::Example<>>
    : public hb::bridge::data::transforms::Collation<hb::bridge::data::Example<>> {
  hb::bridge::data::Example<> apply_batch(std::vector<hb::bridge::data::Example<>> examples) override;
};
template <>
struct HB_API Stack<hb::bridge::data::TensorExample>
    : public hb::bridge::data::transforms::Collation<hb::bridge::data::TensorExample> {
  hb::bridge::data::TensorExample apply_batch(std::vector<hb::bridge::data::TensorExample> examples) override;
};

}  // namespace torch::data::transforms

namespace hb::bridge::data::transforms {

using torch::data::transforms::Stack;

/// A Transform of the data tensor of each example.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  using typename Transform<E, E>::InputType;
  using typename Transform<E, E>::OutputType;

  virtual Tensor operator()(Tensor input) = 0;

  OutputType apply(InputType input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

/// A TensorTransform made of a function.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
/// (C, 1, 1), float32.
HB_API Tensor channel_values(ArrayRef<double> values);
HB_API Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev);
}  // namespace detail

/// (input - mean) / stddev, one mean and deviation per channel of (C, H, W), or one for all.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean(detail::channel_values(mean)), stddev(detail::channel_values(stddev)) {}
  Tensor operator()(Tensor input) override { return detail::normalize(input, mean, stddev); }

  Tensor mean, stddev;
};

}  // namespace hb::bridge::data::transforms
