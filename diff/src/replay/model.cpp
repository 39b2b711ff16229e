#include "model.h"

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::layer_diff::replay {

namespace {

// Tensors by their index; those that are statistics alone are undefined.
Tensors load_all(const Trace& trace, const std::vector<const Record*>& records) {
  Tensors tensors;
  for (const Record* record : records) {
    const auto index = static_cast<size_t>(record->index);
    HB_CHECK(index < 4096, "[replay] ", trace.path(), " has a tensor ", record->name, " of index ", index);
    if (tensors.size() <= index) tensors.resize(index + 1);
    if (record->file >= 0) tensors[index] = trace.load(*record);
  }
  return tensors;
}

std::vector<size_t> first_same_of(const std::vector<const Record*>& records, size_t count) {
  std::vector<size_t> first(count);
  for (size_t i = 0; i < count; ++i) first[i] = i;
  for (size_t a = 0; a < records.size(); ++a) {
    const Record& later = *records[a];
    for (size_t b = 0; b < a; ++b) {
      const Record& earlier = *records[b];
      const bool same = later.file >= 0 && later.file == earlier.file && later.offset == earlier.offset &&
                        later.bytes > 0 && later.dtype == earlier.dtype && later.shape == earlier.shape;
      if (!same) continue;
      first[static_cast<size_t>(later.index)] = first[static_cast<size_t>(earlier.index)];
      break;
    }
  }
  return first;
}

bool run_reproduces(const Layer& layer, const CallData& data, size_t k, Noise* noise) {
  const Tensors native = forward(layer, data.inputs, data.dtype);
  HB_CHECK(k < native.size() && native[k].defined(), "[replay] the layer run again has no output ", k);
  HB_CHECK(native[k].numel() == data.outputs[k].numel(), "[replay] the layer run again gives ", native[k].sizes(),
           ", the trace has ", data.outputs[k].sizes());
  const Tensors exact = forward(layer, data.inputs, kDouble);
  *noise = noise_between(native[k], exact[k], data.dtype);
  return noise->explains(error_of(native[k], data.outputs[k]));
}

// Whether the text of the call says what the option is.
bool prints(const Call& call, const Declaration& declaration, const std::string& option) {
  const Config config = parse_config(call.config);
  if (config.named.count(option)) return true;
  for (size_t i = 0; i < declaration.options.size() && i < config.positional.size(); ++i)
    if (declaration.options[i].name == option) return true;
  return false;
}

bool fit(Model& model, const CallData& data, size_t k) {
  for (const Option& option : model.layer->declaration->options) {
    if (prints(*data.call, *model.layer->declaration, option.name)) continue;
    for (const Value& other : option.others) {
      Layer changed = *model.layer;
      changed.args.set(option.name, other);
      Noise noise;
      try {
        if (!run_reproduces(changed, data, k, &noise)) continue;
      } catch (const std::exception&) {
        continue;  // a value that the layer refuses is not the one it had
      }
      model.layer = changed;
      model.noise = noise;
      model.fitted = option.name + "=" + text_of(other);
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<size_t> CallData::same_as(size_t i) const {
  std::vector<size_t> all;
  for (size_t j = 0; j < first_same.size(); ++j)
    if (i < first_same.size() && first_same[j] == first_same[i]) all.push_back(j);
  return all;
}

Tensor CallData::grad_of_same(size_t i) const {
  Tensor first, sum;
  bool all_equal = true;
  for (size_t j : same_as(i)) {
    if (j >= grad_inputs.size() || !grad_inputs[j].defined()) continue;
    if (!first.defined()) first = grad_inputs[j];
    all_equal = all_equal && grad_inputs[j].equal(first);
    sum = sum.defined() ? sum + grad_inputs[j] : grad_inputs[j];
  }
  return all_equal ? first : sum;
}

void CallData::drop_input(size_t i) {
  const auto drop = [i](auto& list) {
    if (i < list.size()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
  };
  drop(inputs), drop(grad_inputs), drop(first_same);
  for (size_t j = 0; j < first_same.size(); ++j) {
    const size_t first = first_same[j];
    first_same[j] = first == i ? j : first > i ? first - 1 : first;
  }
}

CallData load(const Trace& trace, const Call& call) {
  CallData data;
  data.trace = &trace;
  data.call = &call;
  data.inputs = load_all(trace, call.inputs);
  data.outputs = load_all(trace, call.outputs);
  data.grad_inputs = load_all(trace, call.grad_inputs);
  data.first_same = first_same_of(call.inputs, data.inputs.size());
  data.grad_outputs = load_all(trace, call.grad_outputs);
  bool floating = false;
  for (const Tensor& output : data.outputs) {
    if (!output.defined() || !output.is_floating_point()) continue;
    data.dtype = floating ? coarser(data.dtype, output.scalar_type()) : output.scalar_type();
    floating = true;
  }
  return data;
}

Model model_of(const CallData& data, size_t k, const State& state) {
  Model model;
  if (k >= data.outputs.size() || !data.outputs[k].defined()) {
    model.problem = "the trace has no output of it";
    return model;
  }
  try {
    model.layer = layer_of(*data.trace, *data.call);
    if (!model.layer) {
      model.problem = data.call->type.empty() ? "the trace does not say what it is"
                                              : data.call->type + " is no type that can be run again";
      return model;
    }
    for (const auto& [name, tensor] : state) model.layer->state[name] = tensor;
    model.reproduces = run_reproduces(*model.layer, data, k, &model.noise);
  } catch (const std::exception& error) {
    model.problem = error.what();
  }
  if (!model.reproduces && model.layer) model.reproduces = fit(model, data, k);
  if (!model.reproduces && model.problem.empty())
    model.problem = "run again with the options that it prints, it does not give what it gave";
  return model;
}

Tensors shaped_like(const Tensors& from, const Tensors& like) {
  Tensors shaped = from;
  for (size_t i = 0; i < shaped.size() && i < like.size(); ++i)
    if (shaped[i].defined() && like[i].defined() && shaped[i].numel() == like[i].numel())
      shaped[i] = shaped[i].reshape(like[i].sizes());
  return shaped;
}

}  // namespace hb::layer_diff::replay
