#include <halfbridge/bridge/nn/loss.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

namespace {
// The options with the module's own copies of the weights, which move with the module.
template <class Options, class Impl>
Options with_weights(Options options, const Impl& module) {
  options.weight(module.weight);
  if constexpr (requires { module.pos_weight; }) options.pos_weight(module.pos_weight);
  return options;
}
}  // namespace

Tensor L1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::l1_loss(a, b, options); }, input, target);
}
Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::kl_div(a, b, options); }, input, target);
}
Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::mse_loss(a, b, options); }, input, target);
}
Tensor BCELossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b) { return F::binary_cross_entropy(a, b, with_weights(options, *this)); },
      input, target);
}
Tensor HingeEmbeddingLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::hinge_embedding_loss(a, b, options); }, input,
                target);
}
Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b) { return F::multi_margin_loss(a, b, with_weights(options, *this)); },
      input, target);
}
Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b, const Tensor& c) { return F::cosine_embedding_loss(a, b, c, options); },
      input1, input2, target);
}
Tensor SmoothL1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::smooth_l1_loss(a, b, options); }, input, target);
}
Tensor HuberLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::huber_loss(a, b, options); }, input, target);
}
Tensor MultiLabelMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::multilabel_margin_loss(a, b, options); }, input,
                target);
}
Tensor SoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::soft_margin_loss(a, b, options); }, input, target);
}
Tensor MultiLabelSoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a,
                       const Tensor& b) { return F::multilabel_soft_margin_loss(a, b, with_weights(options, *this)); },
                input, target);
}
Tensor TripletMarginLossImpl::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  return hooked(
      [this](const Tensor& a, const Tensor& b, const Tensor& c) { return F::triplet_margin_loss(a, b, c, options); },
      anchor, positive, negative);
}
Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) {
  return hooked([this](const Tensor& a, const Tensor& b,
                       const Tensor& c) { return F::triplet_margin_with_distance_loss(a, b, c, options); },
                anchor, positive, negative);
}
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return hooked([this](const Tensor& a, const Tensor& b, const Tensor& c,
                       const Tensor& d) { return F::ctc_loss(a, b, c, d, options); },
                log_probs, targets, input_lengths, target_lengths);
}
Tensor PoissonNLLLossImpl::forward(const Tensor& log_input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::poisson_nll_loss(a, b, options); }, log_input,
                target);
}
Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b, const Tensor& c) { return F::margin_ranking_loss(a, b, c, options); },
      input1, input2, target);
}
Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked([this](const Tensor& a, const Tensor& b) { return F::nll_loss(a, b, with_weights(options, *this)); },
                input, target);
}
Tensor CrossEntropyLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b) { return F::cross_entropy(a, b, with_weights(options, *this)); }, input,
      target);
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hooked(
      [this](const Tensor& a, const Tensor& b) {
        return F::binary_cross_entropy_with_logits(a, b, with_weights(options, *this));
      },
      input, target);
}

#define HB_WEIGHTED(Name, check)                                                                         \
  Name##Impl::Name##Impl(Name##Options options_) : options(std::move(options_)) { Name##Impl::reset(); } \
  void Name##Impl::reset() {                                                                             \
    check;                                                                                               \
    weight = register_buffer("weight", options.weight());                                                \
  }
HB_WEIGHTED(BCELoss, )
HB_WEIGHTED(MultiMarginLoss, {
  HB_CHECK(options.p() == 1 || options.p() == 2, "only p == 1 and p == 2 supported");
  HB_CHECK(!options.weight().defined() || options.weight().dim() == 1, "weight must be one-dimensional");
})
HB_WEIGHTED(MultiLabelSoftMarginLoss, )
HB_WEIGHTED(NLLLoss, )
HB_WEIGHTED(CrossEntropyLoss, )
#undef HB_WEIGHTED

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_) : options(std::move(options_)) {
  BCEWithLogitsLossImpl::reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", options.weight());
  pos_weight = register_buffer("pos_weight", options.pos_weight());
}

// --- printing
#define HB_PRINT_NAME(Name) \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "()"; }
HB_PRINT_NAME(L1Loss)
HB_PRINT_NAME(KLDivLoss)
HB_PRINT_NAME(MSELoss)
HB_PRINT_NAME(BCELoss)
HB_PRINT_NAME(MultiLabelMarginLoss)
HB_PRINT_NAME(SoftMarginLoss)
HB_PRINT_NAME(MultiLabelSoftMarginLoss)
HB_PRINT_NAME(CTCLoss)
HB_PRINT_NAME(PoissonNLLLoss)
HB_PRINT_NAME(MarginRankingLoss)
HB_PRINT_NAME(NLLLoss)
HB_PRINT_NAME(CrossEntropyLoss)
HB_PRINT_NAME(BCEWithLogitsLoss)
#undef HB_PRINT_NAME
// LibTorch prints these two without parentheses.
void SmoothL1LossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::SmoothL1Loss"; }
void HuberLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::HuberLoss"; }
void HingeEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::HingeEmbeddingLoss(margin=" << options.margin() << ")";
}
void CosineEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CosineEmbeddingLoss(margin=" << options.margin() << ")";
}
void MultiMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MultiMarginLoss(p=" << options.p() << ", margin=" << options.margin()
         << ", weight=" << options.weight() << ", reduction=" << enumtype::get_enum_name(options.reduction()) << ")";
}
void TripletMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::TripletMarginLoss(margin=" << options.margin() << ", p=" << options.p()
         << ", eps=" << options.eps() << std::boolalpha << ", swap=" << options.swap() << ")";
}
void TripletMarginWithDistanceLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::TripletMarginWithDistanceLoss(margin=" << options.margin() << std::boolalpha
         << ", swap=" << options.swap() << ")";
}

}  // namespace modules
}  // namespace hb::bridge::nn
