// The state of a module: dictionaries and archives.
#include <halfbridge/bridge/nn/load_state.h>
#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/bridge/serialize/archive.h>

namespace hb::bridge::nn {
inline namespace modules {

OrderedDict<std::string, Tensor> Module::state_dict() const {
  OrderedDict<std::string, Tensor> result;
  apply([&result](const std::string& prefix, const Module& module) {
    const std::string dot = prefix.empty() ? "" : ".";
    for (const auto& dict : {module.named_parameters(false), module.named_buffers(false)})
      for (const auto& item : dict) result.insert(prefix + dot + item.key(), item.value());
  });
  return result;
}

StateDictMismatch Module::load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict) {
  io::NamedTensors tensors;
  for (const auto& item : state) tensors.emplace_back(item.key(), item.value());
  LoadStateOptions options;
  options.strict = strict;
  return nn::load_state_dict(*this, tensors, options);
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& p : named_parameters(/*recurse=*/false)) archive.write(p.key(), p.value());
  for (const auto& b : named_buffers(/*recurse=*/false)) archive.write(b.key(), b.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive child_archive;
    child.value()->save(child_archive);
    archive.write(child.key(), child_archive);
  }
}

void Module::load(serialize::InputArchive& archive) {
  for (auto& p : named_parameters(/*recurse=*/false)) archive.read(p.key(), p.value());
  for (auto& b : named_buffers(/*recurse=*/false)) archive.read(b.key(), b.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive child_archive;
    archive.read(child.key(), child_archive);
    child.value()->load(child_archive);
  }
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  HB_CHECK(module != nullptr, "Cannot serialize empty module");
  module->save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  HB_CHECK(module != nullptr, "Cannot deserialize empty module");
  module->load(archive);
  return archive;
}

}  // namespace modules
}  // namespace hb::bridge::nn
