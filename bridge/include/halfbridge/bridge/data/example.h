#pragma once

#include <utility>

#include <halfbridge/tensor.h>

namespace hb::bridge::data {

/// One item of a dataset: data and its target (label).
template <class Data = Tensor, class Target = Tensor>
struct HB_API Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data, Target target) : data(std::move(data)), target(std::move(target)) {}

  Data data;
  Target target;
};

namespace example {
using NoTarget = void;
}  // namespace example

/// An item without a target; converts to its data.
template <class Data>
struct HB_API Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data) : data(std::move(data)) {}  // NOLINT: implicit as in LibTorch
  operator Data&() { return data; }              // NOLINT
  operator const Data&() const { return data; }  // NOLINT

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace hb::bridge::data
