#pragma once

#include <optional>

#include <halfbridge/ivalue.h>

#include "io/zip_reader.h"

namespace hb::bridge::script {

/// What io::read_torch_archive reads; the classes of its objects keep the archive's code. No code is run.
IValue read_archive(const io::ZipReader& zip, std::optional<Device> device);

}  // namespace hb::bridge::script
