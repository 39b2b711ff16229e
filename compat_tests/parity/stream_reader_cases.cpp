// Records of archives, read one by one.
#include <algorithm>
#include <sstream>

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include "parity/case.h"

using torch::Tensor;

namespace {

std::stringstream pickled(const c10::IValue& value) {
  const std::vector<char> bytes = torch::pickle_save(value);
  return std::stringstream(std::string(bytes.begin(), bytes.end()));
}

}  // namespace

PARITY_CASE(stream_reader, records) {
  const Tensor x = c.randn({3, 2});
  std::stringstream stream = pickled(x);
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  auto names = reader.getAllRecords();
  std::sort(names.begin(), names.end());
  c.check(std::count(names.begin(), names.end(), "data.pkl") == 1, "the pickle is listed");
  c.check(std::count(names.begin(), names.end(), "data/0") == 1, "the storage is listed");
  c.value("there", reader.hasRecord("data/0"));
  c.value("not there", reader.hasRecord("data/7"));
  c.value("size", static_cast<int64_t>(reader.getRecordSize("data/0")));
  const auto [memory, size] = reader.getRecord("data/0");
  c.value("bytes", static_cast<int64_t>(size));
  c.out("values", torch::from_blob(memory.get(), {3, 2}).clone());
  std::vector<float> copy(6);
  c.value("filled", static_cast<int64_t>(reader.getRecord("data/0", copy.data(), 24)));
  c.out("copy", torch::tensor(copy));
  c.throws("no record", [&] { reader.getRecord("data/7"); });
  c.throws("no size", [&] { reader.getRecordSize("data/7"); });
  c.throws("another size", [&] { reader.getRecord("data/0", copy.data(), 8); });
  c.check(reader.version() >= 1, "the format has a version");
  std::stringstream text("not an archive");
  c.throws("no archive", [&] { caffe2::serialize::PyTorchStreamReader other(&text); });
}

PARITY_CASE(stream_reader, values) {
  c10::Dict<std::string, Tensor> dict;
  dict.insert("weight", c.randn({2, 2}));
  dict.insert("bias", c.randn({2}).to(torch::kDouble));
  std::stringstream stream = pickled(dict);
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  const auto value =
      torch::jit::readArchiveAndTensors("data", "", "data/", std::nullopt, std::nullopt, torch::kCPU, reader);
  for (const auto& entry : value.toGenericDict()) c.out(entry.key().toStringRef(), entry.value().toTensor());
  const auto again =
      torch::jit::readArchiveAndTensors("data", "", "", std::nullopt, std::nullopt, std::nullopt, reader);
  c.value("entries", static_cast<int64_t>(again.toGenericDict().size()));
  c.throws("no pickle", [&] {
    torch::jit::readArchiveAndTensors("code", "", "data/", std::nullopt, std::nullopt, torch::kCPU, reader);
  });
}

PARITY_CASE(stream_reader, modules) {
  torch::nn::Linear net(2, 3);
  std::stringstream stream;
  torch::save(net, stream);
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  c.value("constants", reader.hasRecord("constants.pkl"));
  c.value("code", reader.hasRecord("code/__torch__.py"));
  const auto value = torch::jit::readArchiveAndTensors("constants", "", "constants/", std::nullopt, std::nullopt,
                                                       std::nullopt, reader);
  c.value("tuple", value.isTuple());
}
