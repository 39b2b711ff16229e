#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride);
  HB_ARG(ExpandingArray<D>, padding) = 0;
  HB_ARG(bool, ceil_mode) = false;
  HB_ARG(bool, count_include_pad) = true;
  HB_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride);
  HB_ARG(ExpandingArray<D>, padding) = 0;
  HB_ARG(ExpandingArray<D>, dilation) = 1;
  HB_ARG(bool, ceil_mode) = false;
};
template <typename output_size_t>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(output_size_t output_size) : output_size_(output_size) {}  // NOLINT
  HB_ARG(output_size_t, output_size);
};
template <typename output_size_t>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(output_size_t output_size) : output_size_(output_size) {}  // NOLINT
  HB_ARG(output_size_t, output_size);
};
template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride);
  HB_ARG(ExpandingArray<D>, padding) = 0;
};
template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  HB_ARG(double, norm_type);
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride);
  HB_ARG(bool, ceil_mode) = false;
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using LPPool1dOptions = LPPoolOptions<1>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using LPPool2dOptions = LPPoolOptions<2>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
using LPPool3dOptions = LPPoolOptions<3>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;

/// Pooling over D spatial dimensions of (N, C, …) or (C, …). Defined for D = 1, 2, 3 in the library.
#define HB_POOL(Name, D, size_type, ...)                                                     \
  class HB_API Name##D##dImpl : public Cloneable<Name##D##dImpl> {                           \
   public:                                                                                   \
    Name##D##dImpl(size_type size) : Name##D##dImpl(Name##D##dOptions(size)) {} /* NOLINT */ \
    explicit Name##D##dImpl(const Name##D##dOptions& options_) : options(options_) {}        \
    void reset() override {}                                                                 \
    void pretty_print(std::ostream& stream) const override;                                  \
    __VA_ARGS__                                                                              \
                                                                                             \
    Name##D##dOptions options;                                                               \
  };                                                                                         \
  HB_LIBRARY_MODULE(Name##D##d)
#define HB_POOLS(D, output_size_t)                                                               \
  HB_POOL(AvgPool, D, ExpandingArray<D>, Tensor forward(const Tensor& input););                  \
  HB_POOL(MaxPool, D, ExpandingArray<D>, Tensor forward(const Tensor& input);                    \
          std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input););                \
  HB_POOL(AdaptiveAvgPool, D, output_size_t, Tensor forward(const Tensor& input););              \
  HB_POOL(AdaptiveMaxPool, D, output_size_t, Tensor forward(const Tensor& input);                \
          std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input););                \
  HB_POOL(MaxUnpool, D, ExpandingArray<D>,                                                       \
          Tensor forward(const Tensor& input, const Tensor& indices,                             \
                         const std::optional<std::vector<int64_t>>& output_size = std::nullopt); \
          HB_LIBRARY_DEFAULT_ARGS;);                                                             \
  class HB_API LPPool##D##dImpl : public Cloneable<LPPool##D##dImpl> {                           \
   public:                                                                                       \
    LPPool##D##dImpl(double norm_type, ExpandingArray<D> kernel_size)                            \
        : LPPool##D##dImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}                          \
    explicit LPPool##D##dImpl(const LPPoolOptions<D>& options_) : options(options_) {}           \
    void reset() override {}                                                                     \
    void pretty_print(std::ostream& stream) const override;                                      \
    Tensor forward(const Tensor& input);                                                         \
                                                                                                 \
    LPPoolOptions<D> options;                                                                    \
  };                                                                                             \
  HB_LIBRARY_MODULE(LPPool##D##d)
HB_POOLS(1, ExpandingArray<1>);
HB_POOLS(2, ExpandingArrayWithOptionalElem<2>);
HB_POOLS(3, ExpandingArrayWithOptionalElem<3>);
#undef HB_POOLS
#undef HB_POOL

}  // namespace modules

namespace functional {

template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride);
  HB_ARG(ExpandingArray<D>, padding) = 0;
  HB_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};

#define HB_POOL_FUNCTIONS(nd, D)                                                                                       \
  using AvgPool##D##dFuncOptions = AvgPool##D##dOptions;                                                               \
  using MaxPool##D##dFuncOptions = MaxPool##D##dOptions;                                                               \
  using AdaptiveAvgPool##D##dFuncOptions = AdaptiveAvgPool##D##dOptions;                                               \
  using AdaptiveMaxPool##D##dFuncOptions = AdaptiveMaxPool##D##dOptions;                                               \
  using MaxUnpool##D##dFuncOptions = MaxUnpoolFuncOptions<D>;                                                          \
  using LPPool##D##dFuncOptions = LPPool##D##dOptions;                                                                 \
  HB_API Tensor avg_pool##nd(const Tensor& input, const AvgPool##D##dFuncOptions& options);                            \
  HB_API Tensor max_pool##nd(const Tensor& input, const MaxPool##D##dFuncOptions& options);                            \
  HB_API std::tuple<Tensor, Tensor> max_pool##nd##_with_indices(const Tensor& input,                                   \
                                                                const MaxPool##D##dFuncOptions& options);              \
  HB_API Tensor adaptive_avg_pool##nd(const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options);           \
  HB_API Tensor adaptive_max_pool##nd(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options);           \
  HB_API std::tuple<Tensor, Tensor> adaptive_max_pool##nd##_with_indices(                                              \
      const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options);                                           \
  HB_API Tensor max_unpool##nd(const Tensor& input, const Tensor& indices, const MaxUnpool##D##dFuncOptions& options); \
  HB_API Tensor lp_pool##nd(const Tensor& input, const LPPool##D##dFuncOptions& options);
HB_POOL_FUNCTIONS(1d, 1)
HB_POOL_FUNCTIONS(2d, 2)
HB_POOL_FUNCTIONS(3d, 3)
#undef HB_POOL_FUNCTIONS

}  // namespace functional
}  // namespace hb::bridge::nn
