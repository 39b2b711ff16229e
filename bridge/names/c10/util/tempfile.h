#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/tempfile.h>

namespace c10 {
using hb::bridge::make_tempdir;
using hb::bridge::make_tempfile;
using hb::bridge::TempDir;
using hb::bridge::TempFile;
using hb::bridge::try_make_tempdir;
using hb::bridge::try_make_tempfile;
}  // namespace c10
