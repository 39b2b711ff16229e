#pragma once
#include <caffe2/serialize/read_adapter_interface.h>
#include <halfbridge/bridge/stream_reader.h>

namespace caffe2::serialize {
using hb::bridge::PyTorchStreamReader;
}  // namespace caffe2::serialize
