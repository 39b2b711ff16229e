// Archives of modules and the flat dicts that they are for Python.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// One dict with dotted names; an archive of an optimizer within it becomes Python's dict, and one alone is that dict.
IValue dict_of_archive(const ivalue::ObjectData& root);

/// What Python's state_dict() of a scripted module has: its parameters and buffers. Where the archive does not say
/// which attributes are, all its tensors. Other attributes go to `others`, by dotted name.
IValue state_of_script(const ivalue::ObjectData& root, std::vector<std::pair<std::string, IValue>>& others);

/// Nested archives by the dots in names. `modules` are there even if nothing is in them, and so are the gaps between
/// numbered ones.
std::shared_ptr<ivalue::ObjectData> archive_of_value(const IValue& value, const std::vector<std::string>& modules);

}  // namespace hb::io
