// The state of a module: dictionaries and archives.
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

namespace {
void list(std::string& text, const char* title, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  text += std::string("\n  ") + title + ": ";
  for (size_t i = 0; i < keys.size(); ++i) text += (i ? ", " : "") + keys[i];
}
}  // namespace

StateDictMismatch Module::load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict) {
  auto own = state_dict();
  StateDictMismatch result;
  std::vector<std::string> wrong_shape;
  for (const auto& item : own) {
    const Tensor* given = state.find(item.key());
    if (!given || !given->defined())
      result.missing_keys.push_back(item.key());
    else if (given->sizes() != item.value().sizes())
      wrong_shape.push_back(
          hb::detail::str(item.key(), " (expected shape ", item.value().sizes(), ", got ", given->sizes(), ")"));
  }
  for (const auto& item : state)
    if (!own.contains(item.key())) result.unexpected_keys.push_back(item.key());
  std::string problems;
  if (strict) {
    list(problems, "missing keys", result.missing_keys);
    list(problems, "unexpected keys", result.unexpected_keys);
  }
  list(problems, "shapes that differ", wrong_shape);
  HB_CHECK(problems.empty(), "[load_state_dict] the dictionary does not fit ", name(), ":", problems);
  NoGradGuard no_grad;
  for (auto& item : own)
    if (const Tensor* given = state.find(item.key()); given && given->defined()) item.value().copy_(*given);
  return result;
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
