// Weights of a file, or of another library's module, into a module.
#pragma once

#include <string>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/io/keys.h>
#include <halfbridge/io/state_dict.h>

namespace hb::bridge::nn {

struct LoadStateOptions {
  /// Missing and unexpected keys are an error. Shapes that differ are one in any case.
  bool strict = true;
  /// Applied to the given names first.
  io::RenameRules rename;
  /// Takes what stands at this name alone ("model" of {"model": {...}, "epoch": 3}).
  std::string only;
  /// False: parameters and buffers share the memory of the given tensors where dtype and device are the same.
  bool copy = true;
};

/// Module::load_state_dict with options. One error lists every key that does not fit with the nearest name of the other
/// side; nothing is changed then.
HB_API StateDictMismatch load_state_dict(Module& module, const io::NamedTensors& tensors,
                                         const LoadStateOptions& options = {});
/// From a file of any format that load_state_dict_file reads.
HB_API StateDictMismatch load_state_dict_file(Module& module, const std::string& path,
                                              const LoadStateOptions& options = {});

}  // namespace hb::bridge::nn
