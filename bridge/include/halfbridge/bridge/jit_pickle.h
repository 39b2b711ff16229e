// torch::jit::pickle and torch::jit::unpickle: a value as one pickle, its tensors in a table beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <halfbridge/bridge/serialize.h>

namespace hb::bridge::jit {

/// What <halfbridge/io/pickle.h> says of them.
HB_API std::vector<char> pickle(const IValue& ivalue, std::vector<Tensor>* tensor_table = nullptr);
HB_API void pickle(const std::function<void(const char* data_start, size_t data_len)>& writer, const IValue& ivalue,
                   std::vector<Tensor>* tensor_table = nullptr);

/// Objects have the attributes that the pickle gives them, so that no types are resolved: LibTorch's argument for that
/// takes nullptr only. A table without tensors is none, as in LibTorch.
HB_API IValue unpickle(const char* data, size_t size, std::nullptr_t type_resolver = nullptr,
                       TensorList tensor_table = {});
HB_API IValue unpickle(const std::function<size_t(char*, size_t)>& reader, std::nullptr_t type_resolver,
                       TensorList tensor_table);

/// pickle_load of bytes that somebody else holds.
HB_API IValue pickle_load_obj(std::string_view data);

}  // namespace hb::bridge::jit
