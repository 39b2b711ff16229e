#pragma once

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API CosineSimilarityOptions {
  HB_ARG(int64_t, dim) = 1;
  HB_ARG(double, eps) = 1e-8;
};
struct HB_API PairwiseDistanceOptions {
  HB_ARG(double, p) = 2.0;
  HB_ARG(double, eps) = 1e-6;
  HB_ARG(bool, keepdim) = false;
};

/// Cosine of the angle between vectors along a dimension.
class HB_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  CosineSimilarityOptions options;
};
HB_LIBRARY_MODULE(CosineSimilarity);

/// Norm of order p of the difference of vectors.
class HB_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  PairwiseDistanceOptions options;
};
HB_LIBRARY_MODULE(PairwiseDistance);

}  // namespace modules

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
HB_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {});
HB_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {});
/// Distances of all pairs of rows.
HB_API Tensor pdist(const Tensor& input, double p = 2.0);
}  // namespace functional

}  // namespace hb::bridge::nn
