// The state of an optimizer in LibTorch's archives and in Python's dicts.
#pragma once

#include <memory>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// Whether an archive is what torch::save(optimizer) writes.
bool is_optimizer_archive(const ivalue::ObjectData& object);
/// Whether a value is what Optimizer.state_dict() gives.
bool is_optimizer_dict(const IValue& value);

/// {"state": {0: {...}}, "param_groups": [{..., "params": [0, ...]}]}; step counts become float32 tensors, as PyTorch
/// 2.11 has them. `name` stands in errors.
IValue optimizer_dict_of(const ivalue::ObjectData& archive, const std::string& name);
/// The archive; entries that are None are left out, step counts become integers.
std::shared_ptr<ivalue::ObjectData> optimizer_archive_of(const IValue& dict, const std::string& name);

}  // namespace hb::io
