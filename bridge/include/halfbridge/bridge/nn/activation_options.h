#pragma once
// Options of the activations; the functional forms have the same unless a line here says otherwise.

#include <optional>
#include <string>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API ELUOptions {
  HB_ARG(double, alpha) = 1.0;
  HB_ARG(bool, inplace) = false;
};
struct HB_API SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(bool, inplace);
};
struct HB_API GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, dim);
};
/// approximate: "none" or "tanh".
struct HB_API GELUOptions {
  HB_ARG(std::string, approximate) = "none";
};
struct HB_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lambda);
};
struct HB_API HardtanhOptions {
  HB_ARG(double, min_val) = -1.0;
  HB_ARG(double, max_val) = 1.0;
  HB_ARG(bool, inplace) = false;
};
struct HB_API LeakyReLUOptions {
  HB_ARG(double, negative_slope) = 1e-2;
  HB_ARG(bool, inplace) = false;
};
struct HB_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, dim);
};
struct HB_API SoftminOptions {
  SoftminOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, dim);
};
struct HB_API LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, dim);
};
struct HB_API PReLUOptions {
  HB_ARG(int64_t, num_parameters) = 1;
  HB_ARG(double, init) = 0.25;
};
struct HB_API ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(bool, inplace);
};
struct HB_API ReLU6Options {
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(bool, inplace);
};
struct HB_API RReLUOptions {
  HB_ARG(double, lower) = 1.0 / 8.0;
  HB_ARG(double, upper) = 1.0 / 3.0;
  HB_ARG(bool, inplace) = false;
};
struct HB_API CELUOptions {
  HB_ARG(double, alpha) = 1.0;
  HB_ARG(bool, inplace) = false;
};
struct HB_API SoftplusOptions {
  HB_ARG(double, beta) = 1.0;
  HB_ARG(double, threshold) = 20.0;
};
struct HB_API SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lambda);
};
struct HB_API ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  HB_ARG(double, threshold);
  HB_ARG(double, value);
  HB_ARG(bool, inplace) = false;
};

}  // namespace modules

namespace functional {

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using CELUFuncOptions = CELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;
struct HB_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT
  HB_ARG(int64_t, dim);
  HB_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
struct HB_API SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT
  HB_ARG(int64_t, dim);
  HB_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
struct HB_API LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT
  HB_ARG(int64_t, dim);
  HB_ARG(std::optional<Dtype>, dtype) = std::nullopt;
};
struct HB_API RReLUFuncOptions {
  HB_ARG(double, lower) = 1.0 / 8.0;
  HB_ARG(double, upper) = 1.0 / 3.0;
  HB_ARG(bool, training) = false;
  HB_ARG(bool, inplace) = false;
};
struct HB_API GumbelSoftmaxFuncOptions {
  HB_ARG(double, tau) = 1.0;
  HB_ARG(bool, hard) = false;
  HB_ARG(int, dim) = -1;
};

}  // namespace functional
}  // namespace hb::bridge::nn
