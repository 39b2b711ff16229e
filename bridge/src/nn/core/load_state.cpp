#include <halfbridge/bridge/nn/load_state.h>

#include <unordered_map>

namespace hb::bridge::nn {
namespace {

std::vector<io::NamedShape> shapes_of(const io::NamedTensors& tensors) {
  std::vector<io::NamedShape> shapes;
  for (const auto& [name, tensor] : tensors)
    if (tensor.defined()) shapes.push_back(io::named_shape(name, tensor));
  return shapes;
}

std::vector<std::string> names_of(const std::vector<io::NamedShape>& shapes) {
  std::vector<std::string> names;
  for (const auto& item : shapes) names.push_back(item.name);
  return names;
}

void set(const Tensor& own, const Tensor& given, bool copy) {
  if (copy || own.scalar_type() != given.scalar_type() || own.device() != given.device()) {
    own.copy_(given);
  } else {
    own.set_data(given.detach());
  }
}

}  // namespace

StateDictMismatch load_state_dict(Module& module, const io::NamedTensors& tensors, const LoadStateOptions& options) {
  const io::NamedTensors given = options.rename.apply(tensors);
  io::NamedTensors own;
  for (const auto& item : module.state_dict()) own.emplace_back(item.key(), item.value());
  const io::KeyComparison keys = io::compare_keys(shapes_of(own), shapes_of(given));
  io::DescribeKeys how;
  how.strict = options.strict;
  const std::string problems = io::describe(keys, how);
  HB_CHECK(problems.empty(), "[load_state_dict] the names and shapes do not fit ", module.name(), ":", problems);

  NoGradGuard no_grad;
  std::unordered_map<std::string, Tensor> by_name(given.begin(), given.end());
  for (const auto& [name, tensor] : own) {
    const auto found = by_name.find(name);
    if (found != by_name.end() && found->second.defined()) set(tensor, found->second, options.copy);
  }
  return {names_of(keys.missing), names_of(keys.unexpected)};
}

StateDictMismatch load_state_dict_file(Module& module, const std::string& path, const LoadStateOptions& options) {
  const io::StateDictFile file = io::load_state_dict_file(path);
  if (options.only.empty()) return load_state_dict(module, file.tensors, options);
  const auto part = io::value_at(file.value, options.only);
  HB_CHECK(part, "[load_state_dict] '", path, "' holds nothing named '", options.only, "'");
  return load_state_dict(module, io::flatten(*part), options);
}

}  // namespace hb::bridge::nn
