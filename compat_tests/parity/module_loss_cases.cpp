#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// Every reduction of a loss whose options have one.
template <class Loss, class Options, class... Inputs>
static void reductions(parity::Case& c, const std::string& name, Options options, const Inputs&... inputs) {
  parity::module(c, name + ".mean", Loss(options), inputs...);
  parity::module(c, name + ".sum", Loss(Options(options).reduction(torch::kSum)), inputs...);
  parity::module(c, name + ".none", Loss(Options(options).reduction(torch::kNone)), inputs...);
}

PARITY_CASE(module_loss, regression) {
  auto x = c.leaf({4, 5}), t = c.leaf({4, 5});
  reductions<nn::L1Loss>(c, "L1", nn::L1LossOptions(), x, t);
  reductions<nn::MSELoss>(c, "MSE", nn::MSELossOptions(), x, t);
  reductions<nn::SmoothL1Loss>(c, "SmoothL1", nn::SmoothL1LossOptions(), x, t);
  reductions<nn::SmoothL1Loss>(c, "SmoothL1_beta", nn::SmoothL1LossOptions().beta(0.4), x, t);
  reductions<nn::HuberLoss>(c, "Huber", nn::HuberLossOptions().delta(0.6), x, t);
  reductions<nn::PoissonNLLLoss>(c, "Poisson", nn::PoissonNLLLossOptions(), x, c.rand({4, 5}, torch::kFloat, 0, 4));
  reductions<nn::PoissonNLLLoss>(c, "Poisson_full", nn::PoissonNLLLossOptions().full(true).log_input(false),
                                 c.leaf_in(0.5, 3, {4, 5}), c.rand({4, 5}, torch::kFloat, 0, 4));
  parity::module(c, "from_choice", nn::MSELoss(torch::kSum), x, t);
  c.gradients("mse_loss", {x}, [&] { return F::mse_loss(x, t.detach()); });
  c.gradients("l1_loss", {x}, [&] { return F::l1_loss(x, t.detach(), F::L1LossFuncOptions(torch::kSum)); });
}

PARITY_CASE(module_loss, classes) {
  auto x = c.leaf({4, 6});
  auto t = c.randint(0, 6, {4});
  auto w = c.rand({6}, torch::kFloat, 0.5, 2);
  reductions<nn::CrossEntropyLoss>(c, "CrossEntropy", nn::CrossEntropyLossOptions(), x, t);
  reductions<nn::CrossEntropyLoss>(
      c, "CrossEntropy_all",
      nn::CrossEntropyLossOptions().weight(w).label_smoothing(0.1).ignore_index(t[0].item<int64_t>()), x, t);
  reductions<nn::CrossEntropyLoss>(c, "CrossEntropy_probabilities", nn::CrossEntropyLossOptions(), x,
                                   c.rand({4, 6}).softmax(1));
  reductions<nn::CrossEntropyLoss>(c, "CrossEntropy_2d", nn::CrossEntropyLossOptions(), c.leaf({2, 3, 4, 5}),
                                   c.randint(0, 3, {2, 4, 5}));
  reductions<nn::NLLLoss>(c, "NLL", nn::NLLLossOptions().weight(w), x.detach().log_softmax(1).requires_grad_(), t);
  reductions<nn::NLLLoss>(c, "NLL_2d", nn::NLLLossOptions(), c.leaf({2, 3, 4, 5}), c.randint(0, 3, {2, 4, 5}));
  reductions<nn::MultiMarginLoss>(c, "MultiMargin", nn::MultiMarginLossOptions().margin(0.7), x, t);
  c.gradients("cross_entropy", {x}, [&] { return F::cross_entropy(x, t); });
  c.gradients("nll_loss", {x},
              [&] { return F::nll_loss(x.log_softmax(1), t, F::NLLLossFuncOptions().reduction(torch::kSum)); });
  c.throws("target_range", [&] { F::cross_entropy(x, torch::full({4}, 6, torch::kLong)); });
  c.throws("batch_sizes", [&] { F::nll_loss(x, torch::zeros({3}, torch::kLong)); });
}

PARITY_CASE(module_loss, binary) {
  auto p = c.leaf_in(0.05, 0.95, {4, 5});
  auto x = c.leaf({4, 5});
  auto t = c.rand({4, 5});
  auto w = c.rand({5}, torch::kFloat, 0.5, 2);
  reductions<nn::BCELoss>(c, "BCE", nn::BCELossOptions(), p, t);
  reductions<nn::BCELoss>(c, "BCE_weight", nn::BCELossOptions().weight(w), p, t);
  reductions<nn::BCEWithLogitsLoss>(c, "Logits", nn::BCEWithLogitsLossOptions(), x, t);
  reductions<nn::BCEWithLogitsLoss>(c, "Logits_all", nn::BCEWithLogitsLossOptions().weight(w).pos_weight(w + 1), x, t);
  reductions<nn::MultiLabelSoftMarginLoss>(c, "MultiLabelSoftMargin", nn::MultiLabelSoftMarginLossOptions().weight(w),
                                           x, c.bools({4, 5}).to(torch::kFloat));
  reductions<nn::MultiLabelMarginLoss>(
      c, "MultiLabelMargin", nn::MultiLabelMarginLossOptions(), x,
      torch::tensor({{3, 0, -1, 1, 2}, {1, 2, 3, -1, 0}, {0, -1, 0, 0, 0}, {4, 3, 2, 1, 0}}, torch::kLong));
  auto sign = c.bools({4, 5}).to(torch::kFloat) * 2 - 1;
  reductions<nn::SoftMarginLoss>(c, "SoftMargin", nn::SoftMarginLossOptions(), x, sign);
  reductions<nn::HingeEmbeddingLoss>(c, "HingeEmbedding", nn::HingeEmbeddingLossOptions().margin(0.8), x, sign);
  c.throws("sizes", [&] { F::binary_cross_entropy_with_logits(x, c.rand({4})); });
}

PARITY_CASE(module_loss, pairs) {
  auto a = c.leaf({4, 5}), p = c.leaf({4, 5}), n = c.leaf({4, 5});
  auto sign = c.bools({4}).to(torch::kFloat) * 2 - 1;
  reductions<nn::CosineEmbeddingLoss>(c, "CosineEmbedding", nn::CosineEmbeddingLossOptions().margin(0.2), a, p, sign);
  reductions<nn::MarginRankingLoss>(c, "MarginRanking", nn::MarginRankingLossOptions().margin(0.3), c.leaf({4}),
                                    c.leaf({4}), sign);
  reductions<nn::TripletMarginLoss>(c, "Triplet", nn::TripletMarginLossOptions().margin(1.5).swap(true), a, p, n);
  reductions<nn::TripletMarginWithDistanceLoss>(c, "TripletDistance",
                                                nn::TripletMarginWithDistanceLossOptions().margin(1.5), a, p, n);
  reductions<nn::KLDivLoss>(c, "KLDiv", nn::KLDivLossOptions(), a, c.rand({4, 5}, torch::kFloat, 0.1, 1));
  parity::module(c, "KLDiv.batchmean",
                 nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean).log_target(true)), a, p.detach());
  parity::module(c, "CosineSimilarity", nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(1)), a, p);
  parity::module(c, "PairwiseDistance", nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(1).keepdim(true)), a, p);
}

PARITY_CASE(module_loss, ctc) {
  auto x = c.leaf({8, 2, 5});
  auto targets = c.randint(1, 5, {2, 3});
  auto input_lengths = torch::tensor({8, 7}, torch::kLong), target_lengths = torch::tensor({3, 2}, torch::kLong);
  c.gradients("mean", {x},
              [&] { return nn::CTCLoss()->forward(x.log_softmax(2), targets, input_lengths, target_lengths); });
  c.gradients("none", {x}, [&] {
    return nn::CTCLoss(nn::CTCLossOptions().reduction(torch::kNone))
        ->forward(x.log_softmax(2), targets, input_lengths, target_lengths);
  });
}
