#include <halfbridge/train/summary.h>

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <halfbridge/generator.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/own_generator.h"
#include "modes.h"

namespace hb::train {

namespace {

using bridge::nn::Module;

std::string short_type(const std::string& name) {
  const size_t colon = name.rfind("::");
  std::string type = colon == std::string::npos ? name : name.substr(colon + 2);
  if (type.size() > 4 && type.compare(type.size() - 4, 4, "Impl") == 0) type.resize(type.size() - 4);
  return type;
}

// The random state as it was, whatever happens.
class RandomStateGuard {
 public:
  RandomStateGuard() {
    add(default_generator());
    for (const Generator& g : hb::detail::generators_of_devices()) add(g);
  }
  ~RandomStateGuard() {
    for (auto& [generator, state] : before_) generator.set_state(state);
  }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  void add(const Generator& g) { before_.emplace_back(g, g.get_state()); }
  std::vector<std::pair<Generator, Tensor>> before_;
};

class Watch {
 public:
  explicit Watch(Module& module) {
    module.apply([this](Module& m) {
      if (!watched_.insert(&m).second) return;
      handles_.emplace_back(
          &m, m.register_forward_hook([this](Module& from, const variable_list&, const variable_list& outputs) {
            if (calls_.count(&from)) return;
            for (const Tensor& t : outputs) {
              calls_[&from].shapes.push_back(t.sizes().vec());
              calls_[&from].bytes += static_cast<int64_t>(t.nbytes());
            }
          }));
    });
  }
  ~Watch() {
    for (auto& [module, handle] : handles_) module->remove_hook(handle);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  struct Call {
    std::vector<std::vector<int64_t>> shapes;
    int64_t bytes = 0;
  };
  const Call* of(const Module& m) const {
    auto it = calls_.find(&m);
    return it == calls_.end() ? nullptr : &it->second;
  }

 private:
  std::unordered_set<const Module*> watched_;
  std::vector<std::pair<Module*, unsigned>> handles_;
  std::unordered_map<const Module*, Call> calls_;
};

// Elements of tensors, each counted once.
struct Count {
  int64_t elements = 0, trainable = 0, bytes = 0;
  Count(const std::vector<Tensor>& tensors) {  // NOLINT: a sum
    std::unordered_set<TensorImpl*> seen;
    for (const Tensor& t : tensors) {
      if (!seen.insert(t.unsafeGetTensorImpl()).second) continue;
      elements += t.numel();
      bytes += static_cast<int64_t>(t.nbytes());
      if (t.requires_grad()) trainable += t.numel();
    }
  }
};

class Builder {
 public:
  Builder(Summary& summary, const Watch& watch) : summary_(summary), watch_(watch) {}
  void add(const std::string& name, const Module& module, int depth) {
    SummaryRow row;
    row.name = name, row.type = short_type(module.name()), row.depth = depth;
    row.seen_before = !seen_.insert(&module).second;
    const Count parameters = module.parameters();
    row.parameters = parameters.elements, row.trainable = parameters.trainable > 0;
    const auto children = module.named_children();
    if (const auto* call = watch_.of(module)) {
      row.outputs = call->shapes;
      if (children.is_empty() && !row.seen_before) summary_.forward_bytes += call->bytes;
    }
    const bool again = row.seen_before;
    summary_.rows.push_back(std::move(row));
    if (again) return;
    for (const auto& child : children) add(child.key(), *child.value(), depth + 1);
  }

 private:
  Summary& summary_;
  const Watch& watch_;
  std::unordered_set<const Module*> seen_;
};

std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string megabytes(int64_t bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << static_cast<double>(bytes) / 1e6;
  return text.str();
}

std::string shape_text(const SummaryRow& row) {
  if (row.outputs.empty()) return "--";
  std::ostringstream text;
  for (size_t i = 0; i < row.outputs.size(); ++i) text << (i ? ", " : "") << IntArrayRef(row.outputs[i]);
  return text.str();
}

std::string parameter_text(const SummaryRow& row) {
  if (row.seen_before) return "(shared)";
  if (row.parameters == 0) return "--";
  return row.trainable ? grouped(row.parameters) : "(" + grouped(row.parameters) + ")";
}

std::string layer_text(const SummaryRow& row) {
  std::string text(static_cast<size_t>(row.depth) * 2, ' ');
  text += row.type;
  return row.name.empty() ? text : text + " (" + row.name + ")";
}

}  // namespace

std::vector<Tensor> example_inputs(const Network& network, const std::vector<std::vector<int64_t>>& shapes,
                                   ScalarType dtype) {
  const auto parameters = network.module().parameters();
  const auto options = TensorOptions().dtype(dtype).device(parameters.empty() ? Device(kCPU) : parameters[0].device());
  RandomStateGuard random;
  std::vector<Tensor> inputs;
  for (const auto& shape : shapes)
    inputs.push_back(is_floating_type(dtype) ? randn(shape, options) : zeros(shape, options));
  return inputs;
}

Summary summarize(const Network& network, const std::vector<Tensor>& inputs) {
  Module& module = network.module();
  Summary result;
  Watch watch(module);
  {
    RandomStateGuard random;
    EvalMode mode(module);
    NoGradGuard no_grad;
    network(inputs);
  }
  const Count parameters = module.parameters(), buffers = module.buffers();
  result.total_parameters = parameters.elements, result.trainable_parameters = parameters.trainable;
  result.parameter_bytes = parameters.bytes, result.buffer_bytes = buffers.bytes;
  for (const Tensor& t : inputs) result.input_bytes += static_cast<int64_t>(t.nbytes());
  Builder(result, watch).add("", module, 0);
  return result;
}

std::ostream& operator<<(std::ostream& out, const Summary& summary) {
  size_t layer = 5, shape = 12, count = 7;
  for (const SummaryRow& row : summary.rows) {
    layer = std::max(layer, layer_text(row).size());
    shape = std::max(shape, shape_text(row).size());
    count = std::max(count, parameter_text(row).size());
  }
  const std::string line(layer + shape + count + 4, '=');
  auto print = [&](const std::string& a, const std::string& b, const std::string& c) {
    out << a << std::string(layer - a.size() + 2, ' ') << b << std::string(shape - b.size() + 2, ' ')
        << std::string(count - c.size(), ' ') << c << '\n';
  };
  out << line << '\n';
  print("Layer", "Output shape", "Param #");
  out << line << '\n';
  for (const SummaryRow& row : summary.rows) print(layer_text(row), shape_text(row), parameter_text(row));
  out << line << "\nTotal params: " << grouped(summary.total_parameters)
      << "\nTrainable params: " << grouped(summary.trainable_parameters)
      << "\nNon-trainable params: " << grouped(summary.total_parameters - summary.trainable_parameters) << '\n'
      << line << "\nInput size (MB): " << megabytes(summary.input_bytes)
      << "\nForward pass size (MB): " << megabytes(summary.forward_bytes)
      << "\nParams size (MB): " << megabytes(summary.parameter_bytes)
      << "\nBuffers size (MB): " << megabytes(summary.buffer_bytes) << "\nEstimated total size (MB): "
      << megabytes(summary.input_bytes + summary.forward_bytes + summary.parameter_bytes + summary.buffer_bytes) << '\n'
      << line << '\n';
  return out;
}

}  // namespace hb::train
