// torch::jit::pickle and torch::jit::unpickle: a value as one pickle, its tensors in a table beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <halfbridge/bridge/serialize.h>
#include <halfbridge/io/pickle.h>

namespace hb::bridge::jit {

using io::pickle;
inline void pickle(const std::function<void(const char* data_start, size_t data_len)>& writer, const IValue& ivalue,
                   std::vector<Tensor>* tensor_table = nullptr) {
  const std::vector<char> bytes = io::pickle(ivalue, tensor_table);
  writer(bytes.data(), bytes.size());
}

/// Objects have the attributes that the pickle gives them, so that no types are resolved: LibTorch's argument for that
/// takes nullptr only. A table without tensors is none, as in LibTorch.
inline IValue unpickle(const char* data, size_t size, std::nullptr_t /*type_resolver*/ = nullptr,
                       TensorList tensor_table = {}) {
  const std::string_view bytes(data, size);
  return tensor_table.empty() ? io::unpickle(bytes) : io::unpickle(bytes, tensor_table);
}
inline IValue unpickle(const std::function<size_t(char*, size_t)>& reader, std::nullptr_t /*type_resolver*/,
                       TensorList tensor_table) {
  return tensor_table.empty() ? io::unpickle(reader) : io::unpickle(reader, tensor_table);
}

/// pickle_load of bytes that somebody else holds.
inline IValue pickle_load_obj(std::string_view data) { return pickle_load({data.begin(), data.end()}); }

}  // namespace hb::bridge::jit
