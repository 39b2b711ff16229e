// Causes among the parameters and buffers of a layer.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/io/dtype_name.h>
#include <halfbridge/ops.h>

#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

namespace {

bool has(const replay::State& state, const std::string& name) { return state.count(name) != 0; }

}  // namespace

std::optional<Hint> describe_state(const Trace& ref, const std::string& path, const std::string& type, int64_t step,
                                   const std::string& name, const Tensor& of_ref, const Tensor& of_test) {
  const std::string owner = owner_of(ref, name, of_test, step);
  if (!owner.empty() && owner != path)
    return Hint{"shifted_keys", fmt::format("`{}` is that of the reference's {}: keys in another order", name, owner),
                0};
  if (is_rounded_to(of_ref, of_test))
    return Hint{"half_precision",
                fmt::format("`{}` is the reference's rounded to {}", name, io::dtype_name(of_test.scalar_type())), 0};
  if (const auto relation = relate(of_ref, of_test, "`" + name + "`")) {
    const bool scaled = relation->cause == "input_scale";
    std::string cause = scaled ? "scaled_weight" : relation->cause == "zero" ? "missing_" + name : relation->cause;
    if (cause == "transposed") cause = "transposed_weight";
    if (cause == "memory_order" || cause == "reversed" || cause == "flatten_order") cause = "permuted_weight";
    return Hint{cause, relation->text, relation->max_abs};
  }
  if (looks_initial(type, name, of_test)) {
    const bool both = looks_initial(type, name, of_ref);
    return Hint{"not_loaded",
                fmt::format("`{}` has the values of a layer that was just made{}: no weights were loaded into it", name,
                            both ? ", on both sides, by other random numbers" : ", the reference's has not"),
                0};
  }
  return std::nullopt;
}

void try_recorded_state(Search& search) {
  if (!search.own_state || !search.test_model.layer) return;
  const replay::State &mine = search.test_model.layer->state, &theirs = search.layer().state;
  const Call& module = search.ref.call->has_path ? *search.ref.call : *search.test.call;
  Layer all = search.layer();
  std::vector<Hint> hints;
  std::string others;  // that differ in no way that is known
  for (const auto& [name, tensor] : theirs) {
    if (!has(mine, name)) {
      if (name.rfind("bias", 0) != 0 && name != "weight") continue;
      all.state.erase(name);
      hints.push_back({"missing_" + name, "`" + name + "` is not there: the test's layer has none", 0});
    } else if (tensor.numel() != mine.at(name).numel() || !agree(mine.at(name), tensor)) {
      all.state[name] = mine.at(name);
      const auto hint =
          describe_state(*search.ref.trace, module.path, module.type, module.step, name, tensor, mine.at(name));
      if (hint)
        hints.push_back(*hint);
      else
        others += (others.empty() ? "`" : ", `") + name + "`";
    }
  }
  for (const auto& [name, tensor] : mine) {
    if (has(theirs, name)) continue;
    all.state[name] = tensor;
    hints.push_back({"extra_" + name, "`" + name + "` is there: the reference's layer has none", 0});
  }
  if (!others.empty())
    hints.push_back(
        {"weights", "agrees with the test's " + others + ": its values are others, the layer is the same", 0});
  if (hints.empty()) return;
  // Shown by a run: the test's tensors in the reference's layer give the test's output.
  const size_t before = search.found.size();
  if (!search.attempt("weights", "", all)) return;
  const double left = search.found.back().max_abs;
  search.found.resize(before);
  for (const Hint& hint : hints) search.add(hint.cause, hint.text, left);
}

namespace {

// Weights of all gates of a recurrent layer in another order at once.
void try_gates(Search& search) {
  const std::string& type = search.layer().declaration->type;
  const int64_t gates = type.rfind("LSTM", 0) == 0 ? 4 : type.rfind("GRU", 0) == 0 ? 3 : 0;
  if (gates == 0) return;
  const std::string names = gates == 4 ? "ifgo" : "rzn";
  std::vector<int64_t> order(static_cast<size_t>(gates));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  while (std::next_permutation(order.begin(), order.end())) {
    Layer changed = search.layer();
    std::string shown;
    for (int64_t i : order) shown += names[static_cast<size_t>(i)];
    for (auto& [name, tensor] : changed.state) {
      if (name.rfind("weight_hr", 0) == 0 || tensor.dim() == 0 || tensor.size(0) % gates != 0) continue;
      const auto parts = tensor.chunk(gates, 0);
      std::vector<Tensor> chosen;
      for (int64_t i : order) chosen.push_back(parts[static_cast<size_t>(i)]);
      tensor = hb::cat(chosen, 0);
    }
    if (search.attempt("permuted_weight",
                       fmt::format("agrees with the gates in the order {} (the reference has {})", shown, names),
                       changed))
      return;
  }
}

void try_without(Search& search, const std::string& name, const std::string& text) {
  Layer changed = search.layer();
  if (!changed.state.erase(name)) return;
  search.attempt("missing_" + name, text, changed);
}

}  // namespace

// The recorded tensors agree, or are not recorded, but are used otherwise.
void try_rearranged_state(Search& search) {
  for (const auto& [name, tensor] : search.layer().state) {
    if (name.rfind("bias", 0) == 0) try_without(search, name, "agrees without `" + name + "`");
    if (name == "weight" && search.layer().declaration->type.find("Norm") != std::string::npos)
      try_without(search, name, "agrees without `weight`");
  }
  try_gates(search);
  for (const auto& [name, tensor] : search.layer().state) {
    if (tensor.dim() < 2 || search.out_of_time()) continue;
    const auto agrees_with = [&search, &name = name](const Rearranged& r) {
      Layer changed = search.layer();
      changed.state[name] = r.tensor;
      const std::string cause = r.cause == "transposed" ? "transposed_weight" : "permuted_weight";
      return search.attempt(cause, "agrees if " + r.text, changed) || search.out_of_time();
    };
    for_rearrangements(tensor, tensor.sizes().vec(), "`" + name + "`", agrees_with);
  }
}

bool looks_initial(const std::string& type, const std::string& name, const Tensor& tensor) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return false;
  const Tensor t = tensor.to(kDouble);
  const double largest = t.abs().max().item<double>(), rms = std::sqrt(t.square().mean().item<double>());
  const auto uniform = [&](double bound) {
    return tensor.numel() >= 16 && largest <= bound * (1 + 1e-6) && std::abs(rms - bound / std::sqrt(3.0)) < 0.15 * rms;
  };
  if (type.find("Norm") != std::string::npos) {
    const double value = name == "weight" || name == "running_var" ? 1 : 0;
    return (t == value).all().item<bool>();
  }
  if (type == "Embedding" || type == "EmbeddingBag")
    return tensor.numel() >= 64 && std::abs(rms - 1) < 0.15 && largest < 8;
  if (name.find("weight") == std::string::npos || t.dim() < 2) return false;
  if (type.rfind("LSTM", 0) == 0 || type.rfind("GRU", 0) == 0 || type.rfind("RNN", 0) == 0) {
    const int64_t gates = type[0] == 'L' ? 4 : type[0] == 'G' ? 3 : 1;
    return uniform(1 / std::sqrt(static_cast<double>(t.size(0) / gates)));
  }
  const auto fan_in = static_cast<double>(t.numel() / t.size(0));
  return uniform(1 / std::sqrt(fan_in));
}

std::string owner_of(const Trace& trace, const std::string& name, const Tensor& tensor, int64_t step) {
  constexpr int64_t kProbe = 16;
  const int64_t count = std::min<int64_t>(kProbe, tensor.numel());
  if (tensor.numel() < 2) return {};
  const Tensor values = tensor.to(kDouble).contiguous();
  std::vector<double> probe(static_cast<size_t>(count));
  for (const Record& record : trace.records()) {
    if ((record.kind != Kind::parameter && record.kind != Kind::buffer) || record.step > step || record.name != name ||
        record.file < 0 || record.numel() != tensor.numel())
      continue;
    trace.read(record, 0, count, probe.data());
    if (!std::equal(probe.begin(), probe.end(), values.data_ptr<double>())) continue;
    if (replay::error_of(tensor, trace.load(record)).max == 0) return record.path;
  }
  return {};
}

}  // namespace hb::layer_diff::hints
