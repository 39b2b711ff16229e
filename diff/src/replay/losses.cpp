#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace {

// Functions of LibTorch take 0, 1, 2; modules a word.
int64_t reduction(const Arguments& o) {
  const Value& value = o.at("reduction");
  if (value.type == Value::Type::number) return whole("reduction", value.number);
  if (value.word == "none") return loss_reduction::None;
  if (value.word == "sum") return loss_reduction::Sum;
  return loss_reduction::Mean;
}

Tensors kl_div(Run& run) {
  const Arguments& o = run.args;
  const bool by_batch = o.word("reduction") == "batchmean";
  const Tensor loss = hb::kl_div(run.input(0), run.input(1), by_batch ? int64_t{loss_reduction::Sum} : reduction(o),
                                 o.flag("log_target"));
  return {by_batch ? loss / run.input(0).size(0) : loss};
}

Tensors nll(Run& run) {
  const Tensor& x = run.input(0);
  const Tensor weight = run.operand("weight", 2);
  const int64_t ignored = run.args.integer("ignore_index");
  if (x.dim() > 2) return {hb::nll_loss2d(x, run.input(1), weight, reduction(run.args), ignored)};
  return {hb::nll_loss(x, run.input(1), weight, reduction(run.args), ignored)};
}

// A loss of two tensors.
#define HB_LOSS(call)                                  \
  [](Run& run) -> Tensors {                            \
    const Arguments& o = run.args;                     \
    const Tensor &x = run.input(0), &y = run.input(1); \
    return {call};                                     \
  }

}  // namespace

#define HB_REDUCTION "reduction=mean|sum|none"

const Lines& loss_lines() {
  static const Lines lines = {
      {"MSELoss mse_loss", HB_REDUCTION, HB_LOSS(hb::mse_loss(x, y, reduction(o)))},
      {"L1Loss l1_loss", HB_REDUCTION, HB_LOSS(hb::l1_loss(x, y, reduction(o)))},
      {"SmoothL1Loss smooth_l1_loss", HB_REDUCTION " beta~1",
       HB_LOSS(hb::smooth_l1_loss(x, y, reduction(o), o.number("beta")))},
      {"HuberLoss huber_loss", HB_REDUCTION " delta~1", HB_LOSS(hb::huber_loss(x, y, reduction(o), o.number("delta")))},
      {"CrossEntropyLoss cross_entropy cross_entropy_loss",
       HB_REDUCTION " ignore_index=-100|0|-1 label_smoothing~0|0.1",
       HB_LOSS(hb::cross_entropy_loss(x, y, run.operand("weight", 2), reduction(o), o.integer("ignore_index"),
                                      o.number("label_smoothing")))},
      {"NLLLoss nll_loss nll_loss2d nll_loss_nd", HB_REDUCTION " ignore_index=-100|0|-1", nll},
      {"BCELoss binary_cross_entropy", HB_REDUCTION,
       HB_LOSS(hb::binary_cross_entropy(x, y, run.operand("weight", 2), reduction(o)))},
      {"BCEWithLogitsLoss binary_cross_entropy_with_logits", HB_REDUCTION,
       HB_LOSS(hb::binary_cross_entropy_with_logits(x, y, run.operand("weight", 2), run.operand("pos_weight", 3),
                                                    reduction(o)))},
      {"KLDivLoss kl_div", "reduction=mean|sum|none|batchmean log_target=false|true", kl_div},
      {"SoftMarginLoss soft_margin_loss", HB_REDUCTION, HB_LOSS(hb::soft_margin_loss(x, y, reduction(o)))},
      {"HingeEmbeddingLoss hinge_embedding_loss", "margin~1 " HB_REDUCTION,
       HB_LOSS(hb::hinge_embedding_loss(x, y, o.number("margin"), reduction(o)))},
      {"CosineEmbeddingLoss cosine_embedding_loss", "margin~0 " HB_REDUCTION,
       HB_LOSS(hb::cosine_embedding_loss(x, y, run.input(2), o.number("margin"), reduction(o)))},
      {"MarginRankingLoss margin_ranking_loss", "margin~0 " HB_REDUCTION,
       HB_LOSS(hb::margin_ranking_loss(x, y, run.input(2), o.number("margin"), reduction(o)))},
      {"TripletMarginLoss triplet_margin_loss", "margin~1 p~2 eps~1e-6 swap=false|true " HB_REDUCTION,
       HB_LOSS(hb::triplet_margin_loss(x, y, run.input(2), o.number("margin"), o.number("p"), o.number("eps"),
                                       o.flag("swap"), reduction(o)))},
      {"PoissonNLLLoss poisson_nll_loss", "log_input=true|false full=false|true eps~1e-8 " HB_REDUCTION,
       HB_LOSS(hb::poisson_nll_loss(x, y, o.flag("log_input"), o.flag("full"), o.number("eps"), reduction(o)))},
      {"MultiMarginLoss multi_margin_loss", "p=1|2 margin~1 weight=None " HB_REDUCTION,
       HB_LOSS(hb::multi_margin_loss(x, y, o.number("p"), o.number("margin"), run.operand("weight", 2), reduction(o)))},
      {"MultiLabelMarginLoss multilabel_margin_loss", HB_REDUCTION,
       HB_LOSS(hb::multilabel_margin_loss(x, y, reduction(o)))},
      {"CosineSimilarity cosine_similarity", "dim=1|-1|0 eps~1e-8",
       HB_LOSS(hb::cosine_similarity(x, y, o.integer("dim"), o.number("eps")))},
      {"PairwiseDistance pairwise_distance", "p~2 eps~1e-6 keepdim=false",
       HB_LOSS(hb::pairwise_distance(x, y, o.number("p"), o.number("eps"), o.flag("keepdim")))},
      {"CTCLoss ctc_loss", "blank=0 reduction=mean|sum|none zero_infinity=false|true",
       HB_LOSS(
           hb::ctc_loss(x, y, run.input(2), run.input(3), o.integer("blank"), reduction(o), o.flag("zero_infinity")))},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
