#include <halfbridge/io/pickle.h>

#include <algorithm>

#include "io/io_error.h"
#include "io/torch_pickler.h"
#include "io/torch_unpickler.h"

namespace hb::io {
namespace {

constexpr size_t kMaxPickleBytes = size_t{1} << 30;
constexpr size_t kFirstBlock = 4096;

}  // namespace

std::vector<char> pickle(const IValue& value, std::vector<Tensor>* tensor_table) {
  const std::string bytes = TorchPickler(TorchPickler::Flavour::TorchScript, tensor_table).pickle(value);
  return {bytes.begin(), bytes.end()};
}

IValue unpickle(std::string_view data, std::optional<TensorList> tensor_table) {
  const PickleGraph graph = PickleGraph::parse(data, "memory");
  TorchUnpickler unpickler(graph, [](const std::string& key, size_t) -> intrusive_ptr<StorageImpl> {
    io_fail("unpickle", "expected the values of storage '", key,
            "', got a pickle without values: write tensors to a table, or with torch::pickle_save");
  });
  if (tensor_table) unpickler.set_table(*tensor_table);
  return unpickler.run();
}

IValue unpickle(const std::function<size_t(char*, size_t)>& reader, std::optional<TensorList> tensor_table) {
  std::string bytes;
  size_t held = 0;
  for (size_t read = 1; read > 0; held += read) {
    if (held > kMaxPickleBytes) io_fail("unpickle", "expected at most ", kMaxPickleBytes, " bytes, got more");
    if (held == bytes.size()) bytes.resize(std::max(kFirstBlock, 2 * held));
    read = reader(bytes.data() + held, bytes.size() - held);
    if (read > bytes.size() - held) {
      io_fail("unpickle", "expected at most ", bytes.size() - held, " bytes of the reader, got ", read);
    }
  }
  return unpickle(std::string_view(bytes).substr(0, held), tensor_table);
}

}  // namespace hb::io
