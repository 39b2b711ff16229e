#pragma once
// Layers that normalise: batch, instance, layer, group and local response.

#include <memory>
#include <optional>
#include <vector>

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::distributed {
class BatchStatistics;
}

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, num_features);
  HB_ARG(double, eps) = 1e-5;
  /// Weight of the new batch in the running statistics; nothing for the plain average of all batches.
  HB_ARG(std::optional<double>, momentum) = 0.1;
  HB_ARG(bool, affine) = true;
  HB_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

struct HB_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}  // NOLINT
  HB_ARG(int64_t, num_features);
  HB_ARG(double, eps) = 1e-5;
  HB_ARG(double, momentum) = 0.1;
  HB_ARG(bool, affine) = false;
  HB_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

struct HB_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}  // NOLINT
  HB_ARG(std::vector<int64_t>, normalized_shape);
  HB_ARG(double, eps) = 1e-5;
  HB_ARG(bool, elementwise_affine) = true;
};
struct HB_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}  // NOLINT
  HB_ARG(int64_t, size);
  HB_ARG(double, alpha) = 1e-4;
  HB_ARG(double, beta) = 0.75;
  HB_ARG(double, k) = 1.;
};
struct HB_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}  // NOLINT
  HB_ARG(int64_t, size);
  HB_ARG(double, alpha) = 1e-4;
  HB_ARG(double, beta) = 0.75;
  HB_ARG(int64_t, k) = 1;
};
struct HB_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  HB_ARG(int64_t, num_groups);
  HB_ARG(int64_t, num_channels);
  HB_ARG(double, eps) = 1e-5;
  HB_ARG(bool, affine) = true;
};

/// What batch and instance normalisation share: scale, shift and running statistics, each (num_features) or undefined.
/// Defined for D = 1, 2, 3 in the library.
template <size_t D, typename Derived, typename DerivedOptions>
class HB_API NormImplBase : public Cloneable<Derived> {
 protected:
  virtual void _check_input_dim(const Tensor& input) = 0;

 public:
  NormImplBase(const DerivedOptions& options_) : options(options_) { NormImplBase::reset(); }  // NOLINT
  void reset() override;
  void reset_running_stats();
  void reset_parameters();

  DerivedOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;
};
template <size_t D, typename Derived>
class HB_API BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  /// Set by convert_sync_batchnorm(): in training the statistics are those of all ranks' batches.
  std::shared_ptr<hb::distributed::BatchStatistics> all_ranks;
};
template <size_t D, typename Derived>
class HB_API InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};

#define HB_NORM(D)                                                                           \
  class HB_API BatchNorm##D##dImpl : public BatchNormImplBase<D, BatchNorm##D##dImpl> {      \
   protected:                                                                                \
    void _check_input_dim(const Tensor& input) override;                                     \
                                                                                             \
   public:                                                                                   \
    using BatchNormImplBase<D, BatchNorm##D##dImpl>::BatchNormImplBase;                      \
  };                                                                                         \
  HB_LIBRARY_MODULE(BatchNorm##D##d);                                                        \
  class HB_API InstanceNorm##D##dImpl : public InstanceNormImpl<D, InstanceNorm##D##dImpl> { \
   protected:                                                                                \
    void _check_input_dim(const Tensor& input) override;                                     \
                                                                                             \
   public:                                                                                   \
    using InstanceNormImpl<D, InstanceNorm##D##dImpl>::InstanceNormImpl;                     \
  };                                                                                         \
  HB_LIBRARY_MODULE(InstanceNorm##D##d)
HB_NORM(1);
HB_NORM(2);
HB_NORM(3);
#undef HB_NORM

/// Normalises over the last dimensions, whose sizes are normalized_shape.
class HB_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)  // NOLINT
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight;  // normalized_shape
  Tensor bias;    // normalized_shape
};
HB_LIBRARY_MODULE(LayerNorm);

/// Divides each value by a power of the mean of squares over `size` neighbouring channels.
class HB_API LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}  // NOLINT
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LocalResponseNormOptions options;
};
HB_LIBRARY_MODULE(LocalResponseNorm);

/// The same over (N, C, H, W), as LibTorch's older layer computes it.
class HB_API CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}  // NOLINT
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  CrossMapLRN2dOptions options;
};
HB_LIBRARY_MODULE(CrossMapLRN2d);

/// Normalises over groups of channels of each sample.
class HB_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels) : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  Tensor weight;  // (num_channels)
  Tensor bias;    // (num_channels)
};
HB_LIBRARY_MODULE(GroupNorm);

}  // namespace modules

namespace functional {

struct HB_API BatchNormFuncOptions {
  HB_ARG(Tensor, weight);
  HB_ARG(Tensor, bias);
  HB_ARG(bool, training) = false;
  HB_ARG(double, momentum) = 0.1;
  HB_ARG(double, eps) = 1e-5;
};
struct HB_API InstanceNormFuncOptions {
  HB_ARG(Tensor, running_mean);
  HB_ARG(Tensor, running_var);
  HB_ARG(Tensor, weight);
  HB_ARG(Tensor, bias);
  HB_ARG(bool, use_input_stats) = true;
  HB_ARG(double, momentum) = 0.1;
  HB_ARG(double, eps) = 1e-5;
};
struct HB_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}  // NOLINT
  HB_ARG(std::vector<int64_t>, normalized_shape);
  HB_ARG(Tensor, weight);
  HB_ARG(Tensor, bias);
  HB_ARG(double, eps) = 1e-5;
};
struct HB_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}  // NOLINT
  HB_ARG(int64_t, num_groups);
  HB_ARG(Tensor, weight);
  HB_ARG(Tensor, bias);
  HB_ARG(double, eps) = 1e-5;
};
struct HB_API NormalizeFuncOptions {
  HB_ARG(double, p) = 2.0;
  HB_ARG(int64_t, dim) = 1;
  HB_ARG(double, eps) = 1e-12;
  HB_ARG(std::optional<Tensor>, out) = std::nullopt;
};
using LocalResponseNormFuncOptions = LocalResponseNormOptions;

HB_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                         const BatchNormFuncOptions& options = {});
HB_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});
HB_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
HB_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
HB_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
/// input / max(norm of order p over dim, eps).
HB_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});

}  // namespace functional
}  // namespace hb::bridge::nn
