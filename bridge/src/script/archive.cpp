#include "script/archive.h"

#include <algorithm>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "script/unit.h"

namespace hb::bridge::script {
namespace {

constexpr uint64_t kMaxCode = uint64_t{1} << 26;  // of all files
const std::string kFolder = "code/", kEnding = ".py";

bool is_code(const std::string& name) {
  return name.size() > kFolder.size() + kEnding.size() && name.compare(0, kFolder.size(), kFolder) == 0 &&
         name.ends_with(kEnding);
}

// code/__torch__/torch/nn/functional.py: "__torch__.torch.nn.functional".
std::string module_of(const std::string& file) {
  std::string module = file.substr(kFolder.size(), file.size() - kFolder.size() - kEnding.size());
  std::replace(module.begin(), module.end(), '/', '.');
  return module;
}

std::shared_ptr<Unit> unit_of(const io::ZipReader& zip) {
  auto unit = std::make_shared<Unit>();
  unit->set_version(io::check_version(zip));
  uint64_t left = kMaxCode;
  for (const std::string& name : zip.names()) {
    if (!is_code(name)) continue;
    std::string text = zip.read(name, left);
    left -= text.size();
    unit->add_file(module_of(name), name, std::move(text));
  }
  return unit;
}

}  // namespace

IValue read_archive(const io::ZipReader& zip, std::optional<Device> device) {
  if (!io::is_module_archive(zip)) return io::read_torch_archive(zip, device);
  const std::shared_ptr<Unit> unit = unit_of(zip);
  const auto code = [&](const std::string& class_name) { return unit->code_of(class_name); };
  IValue value = io::read_torch_archive(zip, device, {}, code);
  // Objects among the constants find their methods by the unit that calls them; they do not own it.
  const IValue constants = io::read_torch_archive(zip, device, {"constants.pkl", "constants/"});
  if (constants.isTuple()) unit->set_constants(constants.toTupleRef().elements());
  return value;
}

}  // namespace hb::bridge::script
