#pragma once
// Softmax over very many classes, by frequency (Grave et al., 2017).

#include <vector>

#include <halfbridge/bridge/nn/containers/lists.h>
#include <halfbridge/bridge/nn/linear.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  HB_ARG(int64_t, in_features);
  HB_ARG(int64_t, n_classes);
  /// Where the head and the clusters end: increasing, from 1 to n_classes - 1.
  HB_ARG(std::vector<int64_t>, cutoffs);
  /// Cluster i is computed from in_features / div_value^(i + 1) features.
  HB_ARG(double, div_value) = 4.;
  HB_ARG(bool, head_bias) = false;
};

/// `output`: the logarithm of each target's probability, (N); `loss`: the mean of its negative.
struct HB_API ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

/// Classes ordered by falling frequency: those before the first cutoff stand in the head, the others in clusters.
class HB_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);

  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// input (N, in_features), target (N) of kLong.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  /// (N, n_classes)
  Tensor log_prob(const Tensor& input);
  /// log_prob(input).argmax(1), which computes the clusters for those rows alone that need them.
  Tensor predict(const Tensor& input);
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);

  AdaptiveLogSoftmaxWithLossOptions options;
  /// The options' and n_classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head = nullptr;
  ModuleList tail;
};
HB_LIBRARY_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace modules
}  // namespace hb::bridge::nn
