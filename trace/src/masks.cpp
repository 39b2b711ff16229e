#include "masks.h"

#include <filesystem>
#include <fstream>
#include <tuple>

#include <halfbridge/io/safetensors.h>
#include <halfbridge/ops.h>
#include <nlohmann/json.hpp>

namespace hb::trace {

namespace {
using Json = nlohmann::json;

std::string described(int64_t step, bool module, const std::string& path) {
  return hb::detail::str(module ? "module '" + path + "'" : std::string("functions"), " in step ", step);
}
}  // namespace

MaskReplay::MaskReplay(const std::string& folder) : folder_(folder) {
  namespace fs = std::filesystem;
  std::map<Key, std::map<int64_t, Mask>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("trace-", 0) == 0 && entry.path().extension() == ".safetensors")
      read_file(entry.path().string(), found);
  }
  HB_CHECK(!error, "[trace masks] cannot read the folder ", folder, ": ", error.message());
  HB_CHECK(!found.empty(), "[trace masks] expected a trace with masks in ", folder,
           ", got none: record the reference in training mode, with the kind 'mask' and with tensors");
  for (auto& [key, masks] : found) {
    steps_.insert(key.step);
    for (auto& [order, mask] : masks) queues_[key].masks.push_back(std::move(mask));
  }
}

void MaskReplay::read_file(const std::string& file, std::map<Key, std::map<int64_t, Mask>>& found) const {
  const io::SafetensorsHeader header = io::read_safetensors_header(file);
  HB_CHECK(header.metadata.count("halfbridge.trace"), "[trace masks] ", file, " is no trace");
  for (const io::SafetensorsEntry& tensor : header.tensors) {
    const auto entry = header.metadata.find(tensor.name);
    if (entry == header.metadata.end()) continue;
    const Json record = Json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || record.value("kind", Json()) != "mask") continue;
    try {
      const bool module = record.contains("path");
      const Key key{record.at("step").get<int64_t>(), module,
                    module ? record.at("path").get<std::string>() : std::string()};
      HB_CHECK(tensor.dtype == kBool, "[trace masks] ", file, ": expected masks of dtype BOOL, got ", tensor.dtype);
      found[key][record.at("order").get<int64_t>()] = {file, tensor.name, tensor.offset, tensor.shape};
    } catch (const Json::exception& e) {
      hb::detail::fail<Error>("[trace masks] ", file, ": record '", tensor.name, "': ", e.what());
    }
  }
}

Tensor MaskReplay::next(int64_t step, bool module, const std::string& path, IntArrayRef shape, bool again) {
  const auto found = queues_.find({step, module, path});
  const size_t count = found == queues_.end() ? 0 : found->second.masks.size();
  size_t at = found == queues_.end() ? 0 : found->second.used;
  if (again) {
    HB_CHECK(
        at == 1, "[trace masks] ", described(step, module, path), " drew ", at,
        " masks before a checkpoint computed it again: which one is meant cannot be told; run without the checkpoint");
    at = 0;
  } else {
    HB_CHECK(at < count, "[trace masks] ", described(step, module, path), " draws mask number ", at + 1,
             ", and the trace in ", folder_, " has ", count,
             " of it. Were both recorded in training mode, in the same steps?");
    ++found->second.used;
  }
  const Mask& mask = found->second.masks[at];
  HB_CHECK(IntArrayRef(mask.shape) == shape, "[trace masks] ", described(step, module, path),
           ": expected a mask of shape ", shape, ", got ", IntArrayRef(mask.shape), " from ", folder_);
  Tensor kept = empty(shape, TensorOptions(kByte).device(kCPU));
  std::ifstream in(mask.file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(mask.offset));
  in.read(static_cast<char*>(kept.data_ptr()), static_cast<std::streamsize>(kept.numel()));
  HB_CHECK(in.good(), "[trace masks] cannot read ", mask.file);
  return kept.ne(0);
}

}  // namespace hb::trace
