#pragma once
// Options of the losses; those of the functional forms are the same.

#include <functional>
#include <optional>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/enum.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::nn {
inline namespace modules {

// Options that a choice alone turns into: MSELoss(kSum).
#define HB_FROM_CHOICE(Name)                                        \
  Name() = default;                                                 \
  Name(enumtype::kNone choice) : reduction_(choice) {} /* NOLINT */ \
  Name(enumtype::kMean choice) : reduction_(choice) {} /* NOLINT */ \
  Name(enumtype::kSum choice) : reduction_(choice) {}  /* NOLINT */

struct HB_API L1LossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(L1LossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API KLDivLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  HB_FROM_CHOICE(KLDivLossOptions)
  KLDivLossOptions(enumtype::kBatchMean choice) : reduction_(choice) {}  // NOLINT
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(bool, log_target) = false;
};
struct HB_API MSELossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(MSELossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API BCELossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(Tensor, weight);
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API HingeEmbeddingLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(double, margin) = 1.0;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API MultiMarginLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(int64_t, p) = 1;
  HB_ARG(double, margin) = 1.0;
  HB_ARG(Tensor, weight);
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API CosineEmbeddingLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(double, margin) = 0.0;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API MultiLabelMarginLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(MultiLabelMarginLossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API SoftMarginLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(SoftMarginLossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API MultiLabelSoftMarginLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(Tensor, weight);
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API TripletMarginLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(double, margin) = 1.0;
  HB_ARG(double, p) = 2.0;
  HB_ARG(double, eps) = 1e-6;
  HB_ARG(bool, swap) = false;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API TripletMarginWithDistanceLossOptions {
  using reduction_t = bridge::reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  HB_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  HB_ARG(double, margin) = 1.0;
  HB_ARG(bool, swap) = false;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API CTCLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(int64_t, blank) = 0;
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(bool, zero_infinity) = false;
};
struct HB_API SmoothL1LossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(SmoothL1LossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(std::optional<double>, beta) = std::nullopt;
};
struct HB_API HuberLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_FROM_CHOICE(HuberLossOptions)
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(double, delta) = 1.0;
};
struct HB_API PoissonNLLLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(bool, log_input) = true;
  HB_ARG(bool, full) = false;
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API MarginRankingLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(double, margin) = 0;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API NLLLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(Tensor, weight);
  HB_ARG(int64_t, ignore_index) = -100;
  HB_ARG(reduction_t, reduction) = kMean;
};
struct HB_API CrossEntropyLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(Tensor, weight);
  HB_ARG(int64_t, ignore_index) = -100;
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(double, label_smoothing) = 0.0;
};
struct HB_API BCEWithLogitsLossOptions {
  using reduction_t = bridge::reduction_t;
  HB_ARG(Tensor, weight);
  HB_ARG(reduction_t, reduction) = kMean;
  HB_ARG(Tensor, pos_weight);
};
#undef HB_FROM_CHOICE

}  // namespace modules

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;

}  // namespace functional
}  // namespace hb::bridge::nn
