#include <halfbridge/bridge/jit_pickle.h>

#include <optional>

#include <halfbridge/io/pickle.h>

namespace hb::bridge::jit {
namespace {

std::optional<TensorList> if_any(TensorList table) {
  return table.empty() ? std::nullopt : std::optional<TensorList>(table);
}

}  // namespace

std::vector<char> pickle(const IValue& ivalue, std::vector<Tensor>* tensor_table) {
  return io::pickle(ivalue, tensor_table);
}
void pickle(const std::function<void(const char* data_start, size_t data_len)>& writer, const IValue& ivalue,
            std::vector<Tensor>* tensor_table) {
  const std::vector<char> bytes = io::pickle(ivalue, tensor_table);
  writer(bytes.data(), bytes.size());
}

IValue unpickle(const char* data, size_t size, std::nullptr_t, TensorList tensor_table) {
  return io::unpickle(std::string_view(data, size), if_any(tensor_table));
}
IValue unpickle(const std::function<size_t(char*, size_t)>& reader, std::nullptr_t, TensorList tensor_table) {
  return io::unpickle(reader, if_any(tensor_table));
}

IValue pickle_load_obj(std::string_view data) { return pickle_load({data.begin(), data.end()}); }

}  // namespace hb::bridge::jit
