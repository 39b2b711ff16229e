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

const Lines& loss_lines() {
  static const Lines lines = {
      {"mse_loss", HB_LOSS(hb::mse_loss(x, y, reduction(o)))},
      {"l1_loss", HB_LOSS(hb::l1_loss(x, y, reduction(o)))},
      {"smooth_l1_loss", HB_LOSS(hb::smooth_l1_loss(x, y, reduction(o), o.number("beta")))},
      {"huber_loss", HB_LOSS(hb::huber_loss(x, y, reduction(o), o.number("delta")))},
      {"cross_entropy", HB_LOSS(hb::cross_entropy_loss(x, y, run.operand("weight", 2), reduction(o),
                                                       o.integer("ignore_index"), o.number("label_smoothing")))},
      {"nll_loss", nll},
      {"binary_cross_entropy", HB_LOSS(hb::binary_cross_entropy(x, y, run.operand("weight", 2), reduction(o)))},
      {"binary_cross_entropy_with_logits",
       HB_LOSS(hb::binary_cross_entropy_with_logits(x, y, run.operand("weight", 2), run.operand("pos_weight", 3),
                                                    reduction(o)))},
      {"kl_div", kl_div},
      {"soft_margin_loss", HB_LOSS(hb::soft_margin_loss(x, y, reduction(o)))},
      {"hinge_embedding_loss", HB_LOSS(hb::hinge_embedding_loss(x, y, o.number("margin"), reduction(o)))},
      {"cosine_embedding_loss",
       HB_LOSS(hb::cosine_embedding_loss(x, y, run.input(2), o.number("margin"), reduction(o)))},
      {"margin_ranking_loss", HB_LOSS(hb::margin_ranking_loss(x, y, run.input(2), o.number("margin"), reduction(o)))},
      {"triplet_margin_loss", HB_LOSS(hb::triplet_margin_loss(x, y, run.input(2), o.number("margin"), o.number("p"),
                                                              o.number("eps"), o.flag("swap"), reduction(o)))},
      {"poisson_nll_loss",
       HB_LOSS(hb::poisson_nll_loss(x, y, o.flag("log_input"), o.flag("full"), o.number("eps"), reduction(o)))},
      {"multi_margin_loss",
       HB_LOSS(hb::multi_margin_loss(x, y, o.number("p"), o.number("margin"), run.operand("weight", 2), reduction(o)))},
      {"multilabel_margin_loss", HB_LOSS(hb::multilabel_margin_loss(x, y, reduction(o)))},
      {"cosine_similarity", HB_LOSS(hb::cosine_similarity(x, y, o.integer("dim"), o.number("eps")))},
      {"pairwise_distance", HB_LOSS(hb::pairwise_distance(x, y, o.number("p"), o.number("eps"), o.flag("keepdim")))},
      {"ctc_loss", HB_LOSS(hb::ctc_loss(x, y, run.input(2), run.input(3), o.integer("blank"), reduction(o),
                                        o.flag("zero_infinity")))},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
