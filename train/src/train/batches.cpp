#include <halfbridge/train/batches.h>

#include <halfbridge/ops.h>

namespace hb::train::detail {

Batch to_batch(const Tensor& data, const Tensor& target) { return {{data}, target}; }
Batch to_batch(const variable_list& data, const Tensor& target) { return {data, target}; }

Batch to_batch(const std::vector<bridge::data::Example<>>& examples) {
  HB_CHECK(!examples.empty(), "[batches] expected a batch of at least one example");
  variable_list data, targets;
  for (const auto& e : examples) data.push_back(e.data), targets.push_back(e.target);
  return {{stack(data)}, stack(targets)};
}

}  // namespace hb::train::detail
