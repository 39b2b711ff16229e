// Writes small traces by hand: hooks on a network's modules, as docs/trace-format.md says.
#pragma once

#include <torch/torch.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfbridge/io/safetensors.h>

/// What a module prints between its parentheses, and its class.
inline std::pair<std::string, std::string> type_and_config(const torch::nn::Module& module) {
  std::ostringstream stream;
  stream << module;
  std::string text = stream.str();
  if (const auto lines = text.find('\n'); lines != std::string::npos) text.resize(lines);
  const auto open = text.find('('), close = text.rfind(')');
  std::string type = text.substr(0, open);
  type = type.substr(type.rfind(':') + 1);
  if (type.size() > 4 && type.compare(type.size() - 4, 4, "Impl") == 0) type.resize(type.size() - 4);
  const bool printed = open != std::string::npos && close != std::string::npos && close > open;
  return {type, printed ? text.substr(open + 1, close - open - 1) : ""};
}

class Recorder {
 public:
  /// Records the leaves of `net`.
  Recorder(torch::nn::Module& net, std::string root) : net_(net), root_(std::move(root)) {
    for (const auto& item : net.named_modules()) {
      torch::nn::Module& module = *item.value();
      if (item.key().empty() || (!module.children().empty() && type_and_config(module).first != "MultiheadAttention"))
        continue;
      const std::string path = item.key();
      auto number = std::make_shared<int64_t>(0);
      module.register_forward_pre_hook(
          [this, path, number](torch::nn::Module& m, const std::vector<torch::Tensor>& inputs) {
            if (closed_) return;
            auto [type, config] = type_and_config(m);
            if (const auto other = printed.find(path); other != printed.end()) config = other->second;
            *number = begin(type, config, &path, m.is_training());
            tensors("input", *number, inputs);
          });
      module.register_forward_hook([this, number](torch::nn::Module&, const std::vector<torch::Tensor>&,
                                                  const std::vector<torch::Tensor>& outputs) {
        if (!closed_) tensors("output", *number, outputs);
      });
      module.register_full_backward_hook([this, number](torch::nn::Module&, const std::vector<torch::Tensor>& inputs,
                                                        const std::vector<torch::Tensor>& outputs) {
        if (closed_) return;
        tensors("grad_output", *number, outputs);
        tensors("grad_input", *number, inputs);
      });
    }
    states("parameter", "buffer");
  }

  /// A function that the network calls, with tensors that it was given and returned.
  torch::Tensor function(const std::string& type, const std::string& config, const std::vector<torch::Tensor>& inputs,
                         const torch::Tensor& output) {
    if (closed_) return output;
    const int64_t call = begin(type, config, nullptr, true);
    tensors("input", call, inputs);
    tensors("output", call, {output});
    return output;
  }

  void masks(const std::string& path, const torch::Tensor& mask) { add_call_tensor("mask", calls_.at(path), 0, mask); }
  void gradients() {
    for (const auto& item : net_.named_parameters())
      if (item.value().grad().defined()) state("parameter_grad", item.key(), item.value().grad());
  }
  void updated() { states("updated_parameter", "updated_buffer"); }
  void loss_scale(double scale) { add({{"kind", "loss_scale"}, {"name", "scale"}}, torch::tensor(scale)); }
  void optimizer_state(const std::string& key, const std::string& name, const torch::Tensor& value) {
    state("optimizer_state", key + "/" + name, value);
  }

  std::string save(const std::string& folder) {
    closed_ = true;
    std::filesystem::create_directories(folder);
    metadata_["halfbridge.trace"] = "1";
    metadata_["producer"] = "halfbridge test";
    metadata_["file"] = "0";
    metadata_["end"] = "complete";
    hb::io::save_safetensors(folder + "/trace-00000.safetensors", tensors_, metadata_);
    return folder;
  }

  std::map<std::string, std::string> printed;  // by path: what a module prints instead of its options

 private:
  using Json = nlohmann::json;
  torch::nn::Module& net_;
  std::string root_;
  hb::io::NamedTensors tensors_;
  std::map<std::string, std::string> metadata_;
  std::vector<Json> call_fields_;
  std::map<std::string, int64_t> calls_;
  int64_t order_ = 0;
  bool closed_ = false;

  int64_t begin(const std::string& type, const std::string& config, const std::string* path, bool training) {
    Json fields = {
        {"call", call_fields_.size()}, {"type", type}, {"config", config}, {"training", training}, {"root", root_}};
    if (path) {
      fields["path"] = *path;
      calls_[*path] = static_cast<int64_t>(call_fields_.size());
    }
    call_fields_.push_back(fields);
    return static_cast<int64_t>(call_fields_.size()) - 1;
  }
  void add(Json fields, const torch::Tensor& tensor) {
    fields["order"] = order_;
    fields["step"] = 0;
    const std::string name = std::to_string(order_++);
    tensors_.emplace_back(name, tensor.detach().contiguous().clone());
    metadata_[name] = fields.dump();
  }
  void add_call_tensor(const char* kind, int64_t call, int64_t index, const torch::Tensor& tensor) {
    Json fields = call_fields_.at(static_cast<size_t>(call));
    fields["kind"] = kind;
    fields["index"] = index;
    add(fields, tensor);
  }
  void tensors(const char* kind, int64_t call, const std::vector<torch::Tensor>& list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].defined()) add_call_tensor(kind, call, static_cast<int64_t>(i), list[i]);
  }
  void state(const char* kind, const std::string& key, const torch::Tensor& value) {
    const std::string owner = key.substr(0, key.find('/'));
    const auto dot = owner.rfind('.');
    add({{"kind", kind},
         {"root", root_},
         {"path", dot == std::string::npos ? "" : owner.substr(0, dot)},
         {"name", key.substr(dot == std::string::npos ? 0 : dot + 1)},
         {"index", 0}},
        value);
  }
  void states(const char* parameter, const char* buffer) {
    for (const auto& item : net_.named_parameters()) state(parameter, item.key(), item.value());
    for (const auto& item : net_.named_buffers()) state(buffer, item.key(), item.value());
  }
};
