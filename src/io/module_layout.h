// Archives of modules and the flat dicts that they are for Python.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// One dict with dotted names; an archive of an optimizer within it becomes Python's dict, and one alone is that dict.
/// With `tensors_only` (TorchScript) attributes that are no tensors are left out.
IValue dict_of_archive(const ivalue::ObjectData& root, bool tensors_only);

/// Nested archives by the dots in names. `modules` are there even if nothing is in them, and so are the gaps between
/// numbered ones.
std::shared_ptr<ivalue::ObjectData> archive_of_value(const IValue& value, const std::vector<std::string>& modules);

}  // namespace hb::io
