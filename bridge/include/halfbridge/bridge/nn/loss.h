#pragma once
// Losses: PyTorch's documentation of the same name says what they compute.

#include <halfbridge/bridge/nn/cloneable.h>
#include <halfbridge/bridge/nn/loss_options.h>

namespace hb::bridge::nn {
inline namespace modules {

class HB_API L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(L1LossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  L1LossOptions options;
};
HB_LIBRARY_MODULE(L1Loss);
class HB_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(KLDivLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  KLDivLossOptions options;
};
HB_LIBRARY_MODULE(KLDivLoss);
class HB_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(MSELossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
HB_LIBRARY_MODULE(MSELoss);
class HB_API BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(BCELossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCELossOptions options;
  Tensor weight;
};
HB_LIBRARY_MODULE(BCELoss);
class HB_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(HingeEmbeddingLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HingeEmbeddingLossOptions options;
};
HB_LIBRARY_MODULE(HingeEmbeddingLoss);
class HB_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiMarginLossOptions options;
  Tensor weight;
};
HB_LIBRARY_MODULE(MultiMarginLoss);
class HB_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(CosineEmbeddingLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  CosineEmbeddingLossOptions options;
};
HB_LIBRARY_MODULE(CosineEmbeddingLoss);
class HB_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(SmoothL1LossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SmoothL1LossOptions options;
};
HB_LIBRARY_MODULE(SmoothL1Loss);
class HB_API HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(HuberLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HuberLossOptions options;
};
HB_LIBRARY_MODULE(HuberLoss);
class HB_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(MultiLabelMarginLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelMarginLossOptions options;
};
HB_LIBRARY_MODULE(MultiLabelMarginLoss);
class HB_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(SoftMarginLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SoftMarginLossOptions options;
};
HB_LIBRARY_MODULE(SoftMarginLoss);
class HB_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelSoftMarginLossOptions options;
  Tensor weight;
};
HB_LIBRARY_MODULE(MultiLabelSoftMarginLoss);
class HB_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(TripletMarginLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginLossOptions options;
};
HB_LIBRARY_MODULE(TripletMarginLoss);
class HB_API TripletMarginWithDistanceLossImpl : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options_ = {})
      : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginWithDistanceLossOptions options;
};
HB_LIBRARY_MODULE(TripletMarginWithDistanceLoss);
class HB_API CTCLossImpl : public Cloneable<CTCLossImpl> {
 public:
  explicit CTCLossImpl(CTCLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths);

  CTCLossOptions options;
};
HB_LIBRARY_MODULE(CTCLoss);
class HB_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(PoissonNLLLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& log_input, const Tensor& target);

  PoissonNLLLossOptions options;
};
HB_LIBRARY_MODULE(PoissonNLLLoss);
class HB_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(MarginRankingLossOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  MarginRankingLossOptions options;
};
HB_LIBRARY_MODULE(MarginRankingLoss);
class HB_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(NLLLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
  Tensor weight;
};
HB_LIBRARY_MODULE(NLLLoss);
class HB_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
  Tensor weight;
};
HB_LIBRARY_MODULE(CrossEntropyLoss);
class HB_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;
};
HB_LIBRARY_MODULE(BCEWithLogitsLoss);

}  // namespace modules

namespace functional {

HB_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
HB_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});
HB_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
HB_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                   const BinaryCrossEntropyFuncOptions& options = {});
HB_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                   const HingeEmbeddingLossFuncOptions& options = {});
HB_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                const MultiMarginLossFuncOptions& options = {});
HB_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                    const CosineEmbeddingLossFuncOptions& options = {});
HB_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {});
HB_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options,
                             double beta);
HB_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
HB_API Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                     const MultilabelMarginLossFuncOptions& options = {});
HB_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                               const SoftMarginLossFuncOptions& options = {});
HB_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                          const MultilabelSoftMarginLossFuncOptions& options = {});
HB_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                  const TripletMarginLossFuncOptions& options = {});
HB_API Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                                const TripletMarginWithDistanceLossFuncOptions& options = {});
HB_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, const CTCLossFuncOptions& options = {});
HB_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                               const PoissonNLLLossFuncOptions& options = {});
HB_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                  const MarginRankingLossFuncOptions& options = {});
HB_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
HB_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
HB_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                               const BinaryCrossEntropyWithLogitsFuncOptions& options = {});

}  // namespace functional
}  // namespace hb::bridge::nn
