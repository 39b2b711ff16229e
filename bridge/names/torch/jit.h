#pragma once
#include <halfbridge/bridge/jit.h>
#include <halfbridge/bridge/serialize.h>
#include <torch/types.h>

namespace caffe2::serialize {
using hb::bridge::ReadAdapterInterface;
}

namespace torch::jit {
using namespace hb::bridge::jit;
using hb::bridge::pickle_load;
using hb::bridge::pickle_save;
namespace script {
using hb::bridge::jit::ExtraFilesMap;
using hb::bridge::jit::Method;
using hb::bridge::jit::Module;
using hb::bridge::jit::Object;
}  // namespace script
}  // namespace torch::jit
