#include <halfbridge/bridge/nn/adaptive.h>

#include <cmath>
#include <ostream>

#include <halfbridge/bridge/nn/containers/sequential.h>
#include <halfbridge/ops.h>

namespace hb::bridge::nn {
inline namespace modules {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  bool increasing = !cutoffs.empty() && cutoffs.front() > 0 && cutoffs.back() < options.n_classes();
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) increasing = increasing && cutoffs[i] < cutoffs[i + 1];
  HB_CHECK(increasing,
           "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
           "is between 1 and n_classes-1, got ",
           IntArrayRef(cutoffs), " for ", options.n_classes(), " classes");
  HB_CHECK(options.div_value() != 0, "div_value should not be equal to 0");
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs.front();
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;

  head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto features =
        static_cast<int64_t>(static_cast<double>(options.in_features()) / std::pow(options.div_value(), i + 1));
    // In this order LibTorch's library draws the weights.
    Linear out(LinearOptions(features, cutoffs[i + 1] - cutoffs[i]).bias(false));
    Linear in(LinearOptions(options.in_features(), features).bias(false));
    tail->push_back(Sequential(in, out));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (int64_t i = 0; i < n_clusters; ++i) {
    auto& cluster = tail->at<SequentialImpl>(i);
    cluster.at<LinearImpl>(0).reset_parameters();
    cluster.at<LinearImpl>(1).reset_parameters();
  }
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  if (target.dim() == 0) {
    HB_CHECK(input.dim() == 1, "0D target tensor should be supplied with a 1D input tensor, got ", input.sizes());
    ASMoutput single = forward(input.unsqueeze(0), target.unsqueeze(0));
    single.output = single.output.squeeze(0);
    return single;
  }
  HB_CHECK(target.dim() == 1 && input.dim() == 2,
           "0D or 1D target tensor expected, multi-target not supported; 1D target tensors with 2D inputs, got ",
           target.sizes(), " and ", input.sizes());
  HB_CHECK(input.size(0) == target.size(0), "Input and target should have the same size in the batch dimension.");
  const int64_t count = target.size(0);
  Tensor output = zeros({count}, input.options()), in_head = empty({count}, target.options());
  int64_t used = 0;
  for (int64_t i = 0; i <= n_clusters; ++i) {
    const int64_t low = i ? cutoffs[i - 1] : 0;
    const Tensor rows = logical_and(target >= low, target < cutoffs[i]).nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    used += rows.numel();
    const Tensor wanted = target.index_select(0, rows) - low;
    if (i == 0) {
      in_head.index_copy_(0, rows, wanted);
      continue;
    }
    const Tensor scores = tail->at<SequentialImpl>(i - 1).forward(input.index_select(0, rows));
    in_head.index_fill_(0, rows, shortlist_size + i - 1);
    output = output.index_copy(0, rows, log_softmax(scores, 1).gather(1, wanted.unsqueeze(1)).squeeze(1));
  }
  HB_CHECK(used == count, "Target values should be in [0, ", options.n_classes() - 1, "] range but values in range [",
           target.min().item().toDouble(), ", ", target.max().item().toDouble(), "] were found. ");
  output = output + log_softmax(head(input), 1).gather(1, in_head.unsqueeze(1)).squeeze(1);
  return {output, neg(output).mean().item().toDouble()};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input, const Tensor& head_output) {
  const Tensor head_log = log_softmax(head_output, 1);
  std::vector<Tensor> parts{head_log.slice(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i)
    parts.push_back(log_softmax(tail->at<SequentialImpl>(i).forward(input), 1) +
                    head_log.select(1, shortlist_size + i).unsqueeze(1));
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) { return _get_full_log_prob(input, head(input)); }

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor head_output = head(input), best = argmax(head_output, 1);
  const Tensor rows = (best >= shortlist_size).nonzero().squeeze(1);
  if (rows.numel() == 0) return best;
  const Tensor full = _get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows));
  return best.index_copy(0, rows, argmax(full, 1));
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

}  // namespace modules
}  // namespace hb::bridge::nn
