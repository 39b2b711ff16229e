// Causes in what a layer is given.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <halfbridge/io/dtype_name.h>
#include <halfbridge/ops.h>

#include "../describe.h"
#include "causes.h"
#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

namespace {

// Compares a record's first elements before all of it is read.
class Likeness {
 public:
  Likeness(const Trace& trace, const Tensor& tensor) : trace_(trace), tensor_(tensor) {
    const Tensor first = tensor.contiguous().reshape({-1}).slice(0, 0, kProbe).to(kDouble).contiguous();
    probe_.assign(first.data_ptr<double>(), first.data_ptr<double>() + first.numel());
  }
  bool is(const Record& record) const {
    if (record.file < 0 || record.numel() != tensor_.numel() || probe_.empty()) return false;
    std::vector<double> values(probe_.size());
    trace_.read(record, 0, static_cast<int64_t>(values.size()), values.data());
    for (size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i] - probe_[i]) <= 1e-2 * (std::abs(probe_[i]) + 1e-3))) return false;
    return agree(trace_.load(record), tensor_);
  }

 private:
  static constexpr int64_t kProbe = 32;
  const Trace& trace_;
  const Tensor& tensor_;
  std::vector<double> probe_;
};

// A call of the reference that lies between the two tensors: left out in the test, or done to the tensor in place.
std::optional<Hint> by_call_between(const Report& report, const LayerDiff& layer, const Tensor& ref,
                                    const Tensor& test) {
  const Likeness is_test(*report.ref, test), is_ref(*report.ref, ref);
  for (const Call& call : report.ref->calls()) {
    if (call.step != layer.step || call.order >= layer.ref->order || call.inputs.empty() || call.outputs.empty())
      continue;
    for (const Record* input : call.inputs) {
      if (is_test.is(*input) && is_ref.is(*call.outputs[0]))
        return Hint{"missing_layer",
                    fmt::format("the test's input is what {} is given in the reference: {} is missing",
                                layer_title(call, false), call.type),
                    0};
      if (is_ref.is(*input) && is_test.is(*call.outputs[0]))
        return Hint{
            "inplace",
            fmt::format(
                "the test's input is what {} returns, the reference's what it is given: it was changed in place",
                layer_title(call, false)),
            0};
    }
  }
  return std::nullopt;
}

bool is_activation(const std::string& text) {
  for (const char* name : {"relu", "ReLU", "gelu", "GELU", "silu", "SiLU", "tanh", "Tanh", "sigmoid", "Sigmoid",
                           "softmax", "Softmax", "elu", "ELU"})
    if (text.find(name) != std::string::npos) return true;
  return false;
}

std::string cause_of_input(const std::string& relation) {
  if (relation == "transposed" || relation == "memory_order" || relation == "flatten_order") return "transposed_input";
  if (relation == "reversed") return "input_channels";
  if (relation == "permuted_weight") return "permuted_input";
  if (relation == "zero") return "zero_input";
  return relation;
}

std::string zero_text(const Tensor& ref, const Tensor& test) {
  const auto is_zero = [](const Tensor& t) { return t.count_nonzero().item<int64_t>() == 0; };
  if (is_zero(ref)) return ": the reference's is zero, the test's is not";
  if (is_zero(test)) return ": the test's is zero, the reference's is not";
  return "";
}

// A layer that one side calls before this one and the other after it.
std::optional<Hint> by_order_of_calls(const Report& report, const LayerDiff& layer) {
  for (const LayerDiff& other : report.layers) {
    if (!other.ref || !other.test || other.step != layer.step || other.container || !other.ref->has_path) continue;
    if (other.ref->path == layer.ref->path || other.ref->order < layer.ref->order) continue;
    if (other.test->order < layer.test->order)
      return Hint{"call_order",
                  fmt::format("the test calls {} before it, the reference after it", layer_title(*other.ref, false)),
                  0};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Hint> causes_of_inputs(const Report& report, const LayerDiff& layer) {
  std::vector<Hint> hints;
  if (layer.ref->has_path && !layer.container)
    if (const auto hint = by_order_of_calls(report, layer)) hints.push_back(*hint);
  for (const TensorDiff& diff : layer.forward) {
    if (!diff.ref || !diff.test || diff.ref->kind != Kind::input || diff.pass()) continue;
    if (diff.ref->file < 0 || diff.test->file < 0 || diff.ref->numel() != diff.test->numel()) continue;
    const Tensor ref = report.ref->load(*diff.ref), test = report.test->load(*diff.test);
    if (auto hint = by_call_between(report, layer, ref, test)) {
      if (hint->cause == "missing_layer" && is_activation(hint->text)) hint->cause = "missing_activation";
      hints.push_back(*hint);
    }
    if (const std::string name = input_name(layer.ref->type, diff.ref->index); !name.empty())
      hints.push_back({"initial_state", name + " differs" + zero_text(ref, test), 0});
    const Dtype dtype = test.scalar_type();
    if (is_rounded_to(ref, test))
      hints.push_back({"half_precision",
                       fmt::format("input {} is the reference's rounded to {}", diff.ref->index, io::dtype_name(dtype)),
                       0});
    else if (const auto relation = relate(ref, test, fmt::format("input {}", diff.ref->index)))
      hints.push_back({cause_of_input(relation->cause), relation->text, relation->max_abs});
  }
  return hints;
}

}  // namespace hb::layer_diff::hints
