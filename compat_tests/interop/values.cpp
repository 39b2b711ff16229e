#include <torch/script.h>

#include <fstream>
#include <iterator>
#include <tuple>
#include <vector>

#include "interop/check.h"
#include "interop/exchange.h"

namespace interop {
namespace {

const std::vector<std::string> kNames = {"weight", "0", "from", "x.y", "a/b", "with space"};

void write_archive(const std::string& path) {
  torch::serialize::OutputArchive archive;
  archive.write("none", torch::IValue());
  archive.write("small", torch::IValue(int64_t{7}));
  archive.write("negative", torch::IValue(int64_t{-70000}));
  archive.write("wide", torch::IValue((int64_t{1} << 62) + 3));
  archive.write("real", torch::IValue(0.1));
  archive.write("yes", torch::IValue(true));
  archive.write("text", torch::IValue(std::string("two\nlines, \"quoted\" \xc3\xa9")));
  archive.write("ints", torch::IValue(std::vector<int64_t>{1, -2, 300}));
  archive.write("reals", torch::IValue(std::vector<double>{0.5, 1e300}));
  archive.write("strings", torch::IValue(std::vector<std::string>{"a", "a", "b"}));
  archive.write("pair", torch::IValue(std::tuple<double, double>(0.9, 0.999)));
  archive.write("five", torch::IValue(std::tuple<int64_t, bool, double, std::string, int64_t>(1, false, 2.5, "s", 9)));
  archive.write("device", torch::IValue(torch::Device("cpu")));
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("w", torch::arange(4));
  dict.insert("b", torch::ones({2}));
  archive.write("dict", torch::IValue(dict));
  c10::Dict<int64_t, std::string> numbers;
  numbers.insert(4, "four");
  archive.write("numbers", torch::IValue(numbers));
  torch::serialize::OutputArchive nested, deeper, empty;
  deeper.write("tensor", torch::arange(3), /*is_buffer=*/true);
  nested.write("deeper", deeper);
  for (const auto& name : kNames) nested.write(name, torch::full({2}, double(name.size())));
  archive.write("nested", nested);
  archive.write("empty", empty);
  archive.save_to(path);
}

torch::IValue read_value(torch::serialize::InputArchive& archive, const std::string& key) {
  torch::IValue value;
  archive.read(key, value);
  return value;
}

void read_archive(const std::string& path) {
  torch::serialize::InputArchive archive;
  archive.load_from(path);
  const std::vector<std::string> keys = archive.keys();
  check(keys.size() == 17 && keys.front() == "none" && keys.back() == "empty", "archive: keys in order");
  check(read_value(archive, "none").isNone(), "archive: none");
  check(read_value(archive, "small").toInt() == 7, "archive: small");
  check(read_value(archive, "negative").toInt() == -70000, "archive: negative");
  check(read_value(archive, "wide").toInt() == (int64_t{1} << 62) + 3, "archive: wide");
  check(read_value(archive, "real").toDouble() == 0.1, "archive: real");
  check(read_value(archive, "yes").toBool(), "archive: yes");
  check(read_value(archive, "text").toStringRef() == "two\nlines, \"quoted\" \xc3\xa9", "archive: text");
  check(read_value(archive, "ints").toIntVector() == std::vector<int64_t>{1, -2, 300}, "archive: ints");
  check(read_value(archive, "reals").toDoubleVector() == std::vector<double>{0.5, 1e300}, "archive: reals");
  check(read_value(archive, "strings").toListRef()[2].toStringRef() == "b", "archive: strings");
  check(read_value(archive, "pair").toTuple()->elements()[1].toDouble() == 0.999, "archive: pair");
  check(read_value(archive, "five").toTuple()->elements()[3].toStringRef() == "s", "archive: five");
  check(read_value(archive, "device").toDevice().is_cpu(), "archive: device");
  check_bits(read_value(archive, "dict").toGenericDict().at("w").toTensor(), torch::arange(4), "archive: dict");
  check(read_value(archive, "numbers").toGenericDict().at(int64_t{4}).toStringRef() == "four", "archive: numbers");

  torch::serialize::InputArchive nested, deeper, empty;
  archive.read("nested", nested);
  nested.read("deeper", deeper);
  torch::Tensor tensor;
  deeper.read("tensor", tensor, /*is_buffer=*/true);
  check_bits(tensor, torch::arange(3), "archive: nested.deeper.tensor");
  for (const auto& name : kNames) {
    torch::Tensor named;
    nested.read(name, named);
    check_bits(named, torch::full({2}, double(name.size())), "archive: nested." + name);
  }
  archive.read("empty", empty);
  check(empty.keys().empty(), "archive: empty");

  torch::Tensor missing;
  check(!archive.try_read("missing", missing), "archive: a missing tensor");
  check(!archive.try_read("small", missing), "archive: a number is no tensor");
  check(!archive.try_read("missing", empty), "archive: a missing archive");
  bool thrown = false;
  try {
    deeper.read("missing", missing);
  } catch (const c10::Error& error) {
    thrown = std::string(error.what()).find("missing") != std::string::npos;
  }
  check(thrown, "archive: reading what is missing throws an error that names it");
}

torch::IValue pickled() {
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("layer.weight", torch::arange(6).view({2, 3}));
  dict.insert("layer.bias", torch::tensor({0.25f, -1.5f}));
  c10::Dict<std::string, c10::List<int64_t>> lists;
  lists.insert("steps", c10::List<int64_t>({1, 2}));
  return std::tuple<c10::Dict<std::string, torch::Tensor>, c10::Dict<std::string, c10::List<int64_t>>, std::string>(
      dict, lists, "end");
}

// torch::jit::pickle with a table; the table is a file of torch::save's.
void write_pickle_with_table(const std::string& folder) {
  std::vector<torch::Tensor> table;
  const std::vector<char> bytes = torch::jit::pickle(pickled(), &table);
  torch::save(table, folder + "table.pt");
  std::ofstream(folder + "table.pkl", std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void check_pickled(const torch::IValue& value, const std::string& how) {
  const auto elements = value.toTuple()->elements();
  check(elements.size() == 3 && elements[2].toStringRef() == "end", how + ": three elements");
  c10::Dict<torch::IValue, torch::IValue> dict = elements[0].toGenericDict();
  std::string names;
  for (auto const& entry : dict) names += entry.key().toStringRef() + ";";
  check(names == "layer.weight;layer.bias;", how + ": the dict keeps its order");
  check_bits(dict.at("layer.weight").toTensor(), torch::arange(6).view({2, 3}), how + ": weight");
  check_bits(dict.at("layer.bias").toTensor(), torch::tensor({0.25f, -1.5f}), how + ": bias");
  check(elements[1].toGenericDict().at("steps").toIntVector() == std::vector<int64_t>{1, 2}, how + ": a dict of lists");
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

void write_values(const std::string& folder) {
  write_archive(folder + "archive.pt");
  const std::vector<char> bytes = torch::pickle_save(pickled());
  std::ofstream(folder + "pickle.pt", std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  write_pickle_with_table(folder);
}

void read_values(const std::string& folder) {
  read_archive(folder + "archive.pt");
  check_pickled(torch::pickle_load(bytes_of(folder + "pickle.pt")), "pickle");
  std::vector<torch::Tensor> table;
  torch::load(table, folder + "table.pt");
  const std::vector<char> bytes = bytes_of(folder + "table.pkl");
  check_pickled(torch::jit::unpickle(bytes.data(), bytes.size(), nullptr, table), "pickle with a table");
}

}  // namespace interop
