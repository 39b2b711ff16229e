// Bags of embeddings: modes, offsets, weights of the samples, padding, norms of rows.
#include "parity/case.h"

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
using BagOptions = F::EmbeddingBagFuncOptions;

namespace {

const parity::Dtypes kTypes{torch::kFloat, torch::kDouble};

template <class Mode>
void modes(parity::Case& c, Mode mode) {
  c.for_dtypes(kTypes, [&](torch::Dtype dtype) {
    auto weight = c.leaf({7, 3}, dtype);
    const auto list = torch::tensor({1, 4, 4, 0, 6, 2, 2, 5}), rows = c.randint(0, 7, {3, 4});
    const auto offsets = torch::tensor({0, 2, 2, 5}), with_end = torch::tensor({0, 2, 2, 5, 8});  // one bag is empty
    const auto bag = [&](const std::string& name, const Tensor& input, BagOptions options) {
      c.gradients(name, {weight}, [&] { return F::embedding_bag(input, weight, options.mode(mode)); });
    };
    bag("rows", rows, BagOptions());
    bag("rows_int32", rows.to(torch::kInt), BagOptions());
    bag("offsets", list, BagOptions().offsets(offsets));
    bag("last_offset", list, BagOptions().offsets(with_end).include_last_offset(true));
    bag("padding", list, BagOptions().offsets(offsets).padding_idx(4));
    bag("padding_from_end", list, BagOptions().offsets(offsets).padding_idx(-3));
    bag("padding_rows", rows, BagOptions().padding_idx(rows[0][0].template item<int64_t>()));
    bag("one_bag", list, BagOptions().offsets(torch::tensor({0})));
    auto limited = c.randn({7, 3}, dtype);
    c.out("max_norm", F::embedding_bag(rows, limited, BagOptions().mode(mode).max_norm(1.2)));
    c.out("max_norm_weight", limited);
  });
}

}  // namespace

PARITY_CASE(embedding, bag_sum) { modes(c, torch::kSum); }
PARITY_CASE(embedding, bag_mean) { modes(c, torch::kMean); }
PARITY_CASE(embedding, bag_max) { modes(c, torch::kMax); }

PARITY_CASE(embedding, bag_sample_weights) {
  c.for_dtypes(kTypes, [&](torch::Dtype dtype) {
    auto weight = c.leaf({7, 3}, dtype), samples = c.leaf({8}, dtype), table = c.leaf({3, 4}, dtype);
    const auto list = torch::tensor({1, 4, 4, 0, 6, 2, 2, 5}), rows = c.randint(0, 7, {3, 4});
    const auto sum = BagOptions().mode(torch::kSum);
    c.gradients("rows", {weight, table},
                [&] { return F::embedding_bag(rows, weight, BagOptions(sum).per_sample_weights(table)); });
    const auto offsets = BagOptions(sum).offsets(torch::tensor({0, 2, 2, 5})).per_sample_weights(samples);
    c.gradients("offsets", {weight, samples}, [&] { return F::embedding_bag(list, weight, offsets); });
    c.gradients("padding", {weight, samples},
                [&] { return F::embedding_bag(list, weight, BagOptions(offsets).padding_idx(2)); });
    c.throws("mean",
             [&] { F::embedding_bag(rows, weight, BagOptions(sum).mode(torch::kMean).per_sample_weights(table)); });
    c.throws("shape", [&] { F::embedding_bag(rows, weight, BagOptions(sum).per_sample_weights(samples)); });
  });
}

PARITY_CASE(embedding, bag_scaled_by_frequency) {
  auto weight = c.leaf({5, 2});
  // Each index as often as the others: where they differ LibTorch divides some rows by the count of another.
  const auto rows = torch::tensor({{1, 2, 2}, {1, 3, 3}});
  c.gradients("sum", {weight},
              [&] { return F::embedding_bag(rows, weight, BagOptions().mode(torch::kSum).scale_grad_by_freq(true)); });
  c.gradients("mean", {weight},
              [&] { return F::embedding_bag(rows, weight, BagOptions().mode(torch::kMean).scale_grad_by_freq(true)); });
}

PARITY_CASE(embedding, pretrained) {
  const auto table = c.randn({4, 3});
  const auto index = torch::tensor({{0, 3}, {2, 1}});
  auto frozen = nn::Embedding::from_pretrained(table);
  c.check(!frozen->weight.requires_grad(), "a pretrained table is frozen");
  c.out("frozen", frozen(index));
  auto bag = nn::EmbeddingBag::from_pretrained(table, nn::EmbeddingBagFromPretrainedOptions().freeze(false));
  c.backward("bag", bag(index), {bag->weight});
}

PARITY_CASE(embedding, native_bag) {
  const auto index = torch::tensor({1, 4, 2, 2, 0}), offsets = torch::tensor({0, 2, 2});
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    auto weight = c.leaf({5, 3}, dtype);
    for (int64_t mode : {0, 1, 2})
      c.gradients("mode" + std::to_string(mode), {weight},
                  [&] { return std::get<0>(torch::embedding_bag(weight, index, offsets, false, mode)); });
    c.gradients("last_offset", {weight}, [&] {
      return std::get<0>(
          torch::embedding_bag(weight, index, torch::tensor({0, 2, 2, 5}), false, 1, false, std::nullopt, true, 2));
    });
  });
  auto weight = c.leaf({5, 3}), scale = c.leaf({5});
  c.gradients("weighted", {weight, scale},
              [&] { return std::get<0>(torch::embedding_bag(weight, index, offsets, false, 0, false, scale)); });
  c.throws("no_offsets",
           [&] { torch::embedding_bag(weight, index, torch::empty({0}, torch::kLong), false, 0, false, {}, true); });
  c.throws("two_dimensions", [&] { torch::embedding_bag(weight, index.view({1, 5}), offsets); });
}
