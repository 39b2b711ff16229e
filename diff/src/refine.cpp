#include "refine.h"

#include <algorithm>

#include "compare_tensors.h"
#include "op_types.h"
#include "pairing.h"

namespace hb::layer_diff {
namespace {

bool outputs_agree(const LayerDiff& layer) {
  bool any = false;
  for (const TensorDiff& pair : layer.forward) {
    if (pair.ref->kind != Kind::output) continue;
    if (!pair.compared || !pair.pass()) return false;
    any = true;
  }
  return any;
}

bool outputs_fail(const LayerDiff& layer) {
  return std::any_of(layer.forward.begin(), layer.forward.end(),
                     [](const TensorDiff& pair) { return pair.ref->kind == Kind::output && !pair.pass(); });
}

void compute(const Trace& ref, const Trace& test, LayerDiff& layer, const CompareOptions& options) {
  std::vector<TensorDiff*> pairs;
  for (auto* list : {&layer.forward, &layer.backward}) {
    for (TensorDiff& pair : *list) pairs.push_back(&pair);
  }
  compare_tensors(ref, test, pairs, options.all_histograms);
}

// The rows behind `at` that stand alone on one side, up to the next that has both.
size_t end_of_alone(const std::vector<LayerDiff>& layers, size_t at, Match side) {
  constexpr size_t kMost = 8;
  size_t end = at + 1;
  while (end < layers.size() && end - at <= kMost && layers[end].match == side && !layers[end].container) ++end;
  return end;
}

// The layer together with rows at + 1 to `last` of the side that has them; nothing where that does not agree.
std::optional<LayerDiff> with_following(const Trace& ref, const Trace& test, const std::vector<LayerDiff>& layers,
                                        size_t at, size_t last, const CompareOptions& options) {
  Aligned row{Match::fused, layers[at].ref, layers[at].test};
  row.fused_in_ref = layers[last].match == Match::only_ref;
  const Call*& end = row.fused_in_ref ? row.ref : row.test;
  row.fused.push_back(end);
  for (size_t i = at + 1; i < last; ++i) row.fused.push_back(row.fused_in_ref ? layers[i].ref : layers[i].test);
  end = row.fused_in_ref ? layers[last].ref : layers[last].test;
  LayerDiff fused = pair_layer(row, options);
  compute(ref, test, fused, options);
  if (!outputs_agree(fused)) return std::nullopt;
  return fused;
}

bool is_guess(const LayerDiff& layer) {
  if (layer.match != Match::fused) return false;
  const Call& one = layer.fused_in_ref ? *layer.test : *layer.ref;
  return canonical_type(one.type).empty();
}

std::vector<LayerDiff> apart(const LayerDiff& layer, const CompareOptions& options) {
  std::vector<LayerDiff> rows;
  const auto add = [&](Match match, const Call* call) {
    rows.push_back(pair_layer(
        {match, match == Match::only_ref ? call : nullptr, match == Match::only_ref ? nullptr : call}, options));
  };
  for (const Call* call : layer.fused) add(layer.fused_in_ref ? Match::only_ref : Match::only_test, call);
  add(Match::only_ref, layer.ref);
  add(Match::only_test, layer.test);
  return rows;
}

}  // namespace

void refine(const Trace& ref, const Trace& test, std::vector<LayerDiff>& layers, const CompareOptions& options) {
  std::vector<LayerDiff> result;
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerDiff& layer = layers[i];
    const bool fails = layer.ref && layer.test && !layer.container && outputs_fail(layer);
    if (fails && is_guess(layer)) {
      for (LayerDiff& row : apart(layer, options)) result.push_back(std::move(row));
      continue;
    }
    size_t taken = i;
    if (fails && layer.match != Match::fused) {
      for (Match side : {Match::only_ref, Match::only_test}) {
        for (size_t last = i + 1; last < end_of_alone(layers, i, side) && taken == i; ++last) {
          if (std::optional<LayerDiff> fused = with_following(ref, test, layers, i, last, options)) {
            layer = std::move(*fused);
            taken = last;
          }
        }
      }
    }
    result.push_back(std::move(layer));
    i = taken;
  }
  layers = std::move(result);
}

}  // namespace hb::layer_diff
