#pragma once

#include <optional>
#include <tuple>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge {
inline namespace api {

/// What nn::functional::embedding_bag computes, as LibTorch's native function takes it: mode 0 is the sum, 1 the mean,
/// 2 the maximum. Indices (total) with offsets (bags). Gives the bags (bags, embedding_dim), the bag of each index, the
/// size of each bag (without padding) and, for the maximum, the row of each value (bags, embedding_dim); otherwise an
/// empty tensor there.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices,
                                                                const Tensor& offsets, bool scale_grad_by_freq,
                                                                int64_t mode, bool sparse,
                                                                const std::optional<Tensor>& per_sample_weights,
                                                                bool include_last_offset,
                                                                std::optional<int64_t> padding_idx);
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices,
                                                                const Tensor& offsets, bool scale_grad_by_freq = false,
                                                                int64_t mode = 0, bool sparse = false,
                                                                const std::optional<Tensor>& per_sample_weights = {},
                                                                bool include_last_offset = false) {
  return embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                       include_last_offset, std::nullopt);
}

}  // namespace api
}  // namespace hb::bridge

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  HB_ARG(int64_t, num_embeddings);
  HB_ARG(int64_t, embedding_dim);
  /// The row of this index is zero and gets no gradient.
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  /// Rows that are looked up are scaled down to this norm of order norm_type.
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(bool, sparse) = false;
  HB_ARG(Tensor, _weight);
};
struct HB_API EmbeddingFromPretrainedOptions {
  HB_ARG(bool, freeze) = true;
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(bool, sparse) = false;
};
using EmbeddingBagMode = std::variant<enumtype::kSum, enumtype::kMean, enumtype::kMax>;
struct HB_API EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  HB_ARG(int64_t, num_embeddings);
  HB_ARG(int64_t, embedding_dim);
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(EmbeddingBagMode, mode) = kMean;
  HB_ARG(bool, sparse) = false;
  HB_ARG(Tensor, _weight);
  HB_ARG(bool, include_last_offset) = false;
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};
struct HB_API EmbeddingBagFromPretrainedOptions {
  HB_ARG(bool, freeze) = true;
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(EmbeddingBagMode, mode) = kMean;
  HB_ARG(bool, sparse) = false;
  HB_ARG(bool, include_last_offset) = false;
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

/// Looks rows up: indices of any shape S to (S, embedding_dim).
class HB_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  Tensor weight;  // (num_embeddings, embedding_dim)
};
template <>
inline constexpr bool is_library_module<EmbeddingImpl> = true;
HB_LIBRARY_CLONEABLE(Embedding);
class HB_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {});
};

/// Sums, averages or maxima of rows over bags of indices: (B, n), or (total) with the offset of each bag.
class HB_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  Tensor weight;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
template <>
inline constexpr bool is_library_module<EmbeddingBagImpl> = true;
HB_LIBRARY_CLONEABLE(EmbeddingBag);
class HB_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace modules

namespace functional {

struct HB_API EmbeddingFuncOptions {
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(bool, sparse) = false;
};
struct HB_API EmbeddingBagFuncOptions {
  HB_ARG(Tensor, offsets);
  HB_ARG(std::optional<double>, max_norm) = std::nullopt;
  HB_ARG(double, norm_type) = 2.;
  HB_ARG(bool, scale_grad_by_freq) = false;
  HB_ARG(EmbeddingBagMode, mode) = kMean;
  HB_ARG(bool, sparse) = false;
  HB_ARG(Tensor, per_sample_weights);
  HB_ARG(bool, include_last_offset) = false;
  HB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

HB_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);
HB_API Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});
HB_API Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {});

}  // namespace functional
}  // namespace hb::bridge::nn
