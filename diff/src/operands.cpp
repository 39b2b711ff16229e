#include "operands.h"

#include <algorithm>

namespace hb::layer_diff {
namespace {

bool is_paired(const LayerDiff& layer, const Record* input) {
  return std::any_of(layer.forward.begin(), layer.forward.end(),
                     [&](const TensorDiff& pair) { return pair.ref == input || pair.test == input; });
}

}  // namespace

// In the order of the module's tensors, by shape: functions take weight, bias and running statistics in that order.
void find_operands(const Trace& ref, const Trace& test, LayerDiff& layer) {
  if (!layer.ref || !layer.test || !layer.fused.empty() || layer.ref->has_path == layer.test->has_path) return;
  const Call& function = layer.ref->has_path ? *layer.test : *layer.ref;
  const Call& module = layer.ref->has_path ? *layer.ref : *layer.test;
  const Trace& trace = layer.ref->has_path ? ref : test;
  std::vector<const Record*> states;
  for (const auto& [name, record] : trace.state_of(module.root, module.path, module.step)) states.push_back(record);
  std::sort(states.begin(), states.end(), [](const Record* a, const Record* b) { return a->order < b->order; });
  auto state = states.begin();
  for (const Record* input : function.inputs) {
    if (is_paired(layer, input)) continue;
    const auto found = std::find_if(state, states.end(), [&](const Record* s) { return s->shape == input->shape; });
    if (found == states.end()) continue;
    layer.operands.push_back({input, *found});
    state = found + 1;
  }
}

}  // namespace hb::layer_diff
