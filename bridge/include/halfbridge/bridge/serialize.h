// torch::save and torch::load.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/serialize/archive.h>

namespace hb::bridge {

/// Saves a module, an optimizer or a tensor (whatever has an operator<< to OutputArchive); the other
/// arguments go to OutputArchive::save_to: a file name, a stream or a function.
template <typename Value, typename... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

template <typename... SaveToArgs>
void save(const std::vector<Tensor>& tensors, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

/// Loads what save() or LibTorch's torch::save wrote; the other arguments go to InputArchive::load_from: a
/// file name, a stream or memory, and optionally a device.
template <typename Value, typename... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  archive >> value;
}

/// Appends the tensors of the file to the vector.
template <typename... LoadFromArgs>
void load(std::vector<Tensor>& tensors, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) {
    tensors.push_back(std::move(tensor));
    tensor = Tensor();
  }
}

/// One value (dicts, lists, tuples, numbers, strings, tensors) as the bytes of an archive, and back.
/// pickle_load also reads the files of Python's torch.save.
HB_API std::vector<char> pickle_save(const IValue& value);
HB_API IValue pickle_load(const std::vector<char>& data);

}  // namespace hb::bridge
