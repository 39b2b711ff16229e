#include <halfbridge/bridge/nn/loss.h>

#include <halfbridge/ops.h>

#include <halfbridge/bridge/nn/distance.h>

namespace hb::bridge::nn::functional {

using enumtype::reduction_get_enum;

namespace {

// Both operands in one shape; warns as LibTorch does, since differing shapes are mostly a mistake.
std::pair<Tensor, Tensor> same_shape(const Tensor& input, const Tensor& target) {
  if (input.sizes() == target.sizes()) return {input, target};
  hb::detail::warn(hb::detail::str(
      "Using a target size (", target.sizes(), ") that is different to the input size (", input.sizes(),
      "). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."));
  auto both = hb::broadcast_tensors({input, target});
  return {both[0], both[1]};
}

Tensor reduce(const Tensor& loss, const reduction_t& reduction) {
  switch (reduction_get_enum(reduction)) {
    case loss_reduction::Mean:
      return loss.mean();
    case loss_reduction::Sum:
      return loss.sum();
    default:
      return loss;
  }
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& o) {
  return hb::l1_loss(input, target, reduction_get_enum(o.reduction()));
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& o) {
  auto [a, b] = same_shape(input, target);
  return hb::mse_loss(a, b, reduction_get_enum(o.reduction()));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  auto [a, b] = same_shape(input, target);
  return hb::smooth_l1_loss(a, b, reduction_get_enum(o.reduction()), o.beta().value_or(1.0));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o, double beta) {
  HB_CHECK(!o.beta(), "expected beta not to be provided in 'options', but got ", *o.beta());
  auto [a, b] = same_shape(input, target);
  return hb::smooth_l1_loss(a, b, reduction_get_enum(o.reduction()), beta);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& o) {
  auto [a, b] = same_shape(input, target);
  return hb::huber_loss(a, b, reduction_get_enum(o.reduction()), o.delta());
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& o) {
  if (std::holds_alternative<enumtype::kMean>(o.reduction()))
    hb::detail::warn(
        "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' "
        "divides only by the batch size, and aligns with the KL div math definition.");
  if (!std::holds_alternative<enumtype::kBatchMean>(o.reduction()))
    return hb::kl_div(input, target, reduction_get_enum(o.reduction()), o.log_target());
  Tensor sum = hb::kl_div(input, target, loss_reduction::Sum, o.log_target());
  return input.dim() ? sum / input.size(0) : sum;
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& o) {
  HB_CHECK(target.sizes() == input.sizes(), "Using a target size (", target.sizes(),
           ") that is different to the input size (", input.sizes(),
           ") is deprecated. Please ensure they have the same size.");
  Tensor weight = o.weight();
  if (weight.defined()) weight = weight.expand(hb::broadcast_shapes(target.sizes(), weight.sizes()));
  return hb::binary_cross_entropy(input, target, weight, reduction_get_enum(o.reduction()));
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  HB_CHECK(target.sizes() == input.sizes(), "Target size (", target.sizes(), ") must be the same as input size (",
           input.sizes(), ")");
  return hb::binary_cross_entropy_with_logits(input, target, o.weight(), o.pos_weight(),
                                              reduction_get_enum(o.reduction()));
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& o) {
  return hb::hinge_embedding_loss(input, target, o.margin(), reduction_get_enum(o.reduction()));
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& o) {
  HB_CHECK(o.p() == 1 || o.p() == 2, "only p == 1 and p == 2 supported");
  HB_CHECK(!o.weight().defined() || o.weight().dim() == 1, "weight must be one-dimensional");
  return hb::multi_margin_loss(input, target, o.p(), o.margin(), o.weight(), reduction_get_enum(o.reduction()));
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o) {
  return hb::cosine_embedding_loss(input1, input2, target, o.margin(), reduction_get_enum(o.reduction()));
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& o) {
  return hb::multilabel_margin_loss(input, target, reduction_get_enum(o.reduction()));
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return hb::soft_margin_loss(input, target, reduction_get_enum(o.reduction()));
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& o) {
  Tensor loss = -(target * hb::log_sigmoid(input) + (1 - target) * hb::log_sigmoid(-input));
  if (o.weight().defined()) loss = loss * o.weight();
  return reduce(loss.sum(-1) / input.size(-1), o.reduction());
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o) {
  return hb::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(),
                                 reduction_get_enum(o.reduction()));
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& o) {
  auto distance = [&](const Tensor& a, const Tensor& b) {
    return o.distance_function() ? (*o.distance_function())(a, b) : hb::pairwise_distance(a, b);
  };
  Tensor to_positive = distance(anchor, positive), to_negative = distance(anchor, negative);
  if (o.swap()) to_negative = hb::min(to_negative, distance(positive, negative));
  return reduce(hb::clamp_min(to_positive - to_negative + o.margin(), 0), o.reduction());
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& o) {
  return hb::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), reduction_get_enum(o.reduction()),
                      o.zero_infinity());
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& o) {
  return hb::poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), reduction_get_enum(o.reduction()));
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o) {
  HB_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
           "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ", input1.sizes(),
           ", input2: ", input2.sizes(), ", target: ", target.sizes());
  return hb::margin_ranking_loss(input1, input2, target, o.margin(), reduction_get_enum(o.reduction()));
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& o) {
  HB_CHECK(input.dim() >= 2, "Expected 2 or more dimensions (got ", input.dim(), ")");
  HB_CHECK(input.size(0) == target.size(0), "Expected input batch_size (", input.size(0),
           ") to match target batch_size (", target.size(0), ").");
  return hb::nll_loss(input, target, o.weight(), reduction_get_enum(o.reduction()), o.ignore_index());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& o) {
  return hb::cross_entropy_loss(input, target, o.weight(), reduction_get_enum(o.reduction()), o.ignore_index(),
                                o.label_smoothing());
}

}  // namespace hb::bridge::nn::functional
