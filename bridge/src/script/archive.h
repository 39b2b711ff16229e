#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <halfbridge/ivalue.h>

#include "io/zip_reader.h"
#include "io/zip_writer.h"

namespace hb::bridge::script {

/// What io::read_torch_archive reads; the classes of its objects keep the archive's code. No code is run.
IValue read_archive(const io::ZipReader& zip, std::optional<Device> device);

/// Writes a module with the code that it was read with; `extra`: names and contents of files beside it. Throws
/// hb::Error where that code does not tell all that the module is.
void write_archive(const std::shared_ptr<ivalue::ObjectData>& module,
                   const std::unordered_map<std::string, std::string>& extra, io::ZipWriter& zip);

}  // namespace hb::bridge::script
