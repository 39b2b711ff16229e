// torch::jit::pickle and torch::jit::unpickle: values as single pickles, their tensors in a table beside them.
#include <torch/script.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "parity/case.h"

namespace {
// What comes back of a value, as text.
std::string round_trip(const torch::IValue& value) {
  const std::vector<char> bytes = torch::jit::pickle(value);
  std::ostringstream out;
  const torch::IValue back = torch::jit::unpickle(bytes.data(), bytes.size());
  out << back << " " << back.tagKind() << " " << back.type()->annotation_str();
  return out.str();
}

c10::Dict<std::string, torch::Tensor> state(parity::Case& c) {
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("weight", c.randn({2, 3}));
  dict.insert("bias", c.randn({3}, torch::kHalf));
  return dict;
}
}  // namespace

PARITY_CASE(pickle, values_without_tensors) {
  c.text("none", round_trip({}));
  c.text("bool", round_trip(true));
  c.text("string", round_trip(std::string("hello")));
  c.text("no text", round_trip(std::string()));
  c.text("number", round_trip(2.25));
  c.text("complex", round_trip(c10::complex<double>(1, -2)));
  c.text("device", round_trip(torch::Device("cpu")));
  for (int64_t value : {0L, 3L, 255L, 256L, 65535L, 65536L, -1L, -70000L, 1L << 40, INT64_MAX, INT64_MIN}) {
    c.text("int " + std::to_string(value), round_trip(value));
  }
}

PARITY_CASE(pickle, containers_without_tensors) {
  c.text("ints", round_trip(std::vector<int64_t>{1, 2, 300}));
  c.text("no ints", round_trip(std::vector<int64_t>{}));
  c.text("numbers", round_trip(std::vector<double>{1, 2.5}));
  c.text("bools", round_trip(c10::List<bool>({true, false})));
  c.text("strings", round_trip(std::vector<std::string>{"x", "y", "x"}));
  c.text("tuple 0", round_trip(c10::ivalue::Tuple::create(std::vector<torch::IValue>())));
  c.text("tuple 1", round_trip(c10::ivalue::Tuple::create({torch::IValue(1)})));
  c.text("tuple 4", round_trip(c10::ivalue::Tuple::create({1, "a", 2.5, torch::IValue()})));
  c10::Dict<int64_t, double> dict;
  dict.insert(7, 0.5);
  dict.insert(-2, 1.5);
  c.text("dict", round_trip(dict));
  c10::Dict<std::string, std::vector<int64_t>> lists;
  lists.insert("a", std::vector<int64_t>{1, 2});
  c.text("dict of lists", round_trip(lists));
}

PARITY_CASE(pickle, tensors_in_a_table) {
  const auto dict = state(c);
  std::vector<torch::Tensor> table{c.randn({1})};  // what is there already stays
  const std::vector<char> bytes = torch::jit::pickle(dict, &table);
  c.value("table", static_cast<int64_t>(table.size()));
  const auto back = torch::jit::unpickle(bytes.data(), bytes.size(), nullptr, table).toGenericDict();
  c.out("weight", back.at("weight").toTensor());
  c.value("the same", back.at("weight").toTensor().is_same(dict.at("weight")));
  c.value("small", bytes.size() < 250);

  std::vector<torch::Tensor> list_table;
  const std::vector<torch::Tensor> list{c.randn({2}), torch::Tensor(), c.randn({3}).requires_grad_()};
  const std::vector<char> listed = torch::jit::pickle(list, &list_table);
  const auto items = torch::jit::unpickle(listed.data(), listed.size(), nullptr, list_table).toTensorVector();
  c.value("items", static_cast<int64_t>(items.size()));
  c.value("undefined", items[1].defined());
  c.value("requires grad", items[2].requires_grad());
}

PARITY_CASE(pickle, shared_values_stay_shared) {
  const c10::List<int64_t> shared({1, 2});
  const std::vector<char> bytes = torch::jit::pickle(c10::ivalue::Tuple::create({shared, shared}));
  const auto elements = torch::jit::unpickle(bytes.data(), bytes.size()).toTuple()->elements();
  c.value("one list", elements[0].toIntList().is(elements[1].toIntList()));
}

PARITY_CASE(pickle, readers_and_writers) {
  const torch::IValue value(std::string(3000, 'a') + "end");
  std::string written;
  torch::jit::pickle([&](const char* data, size_t size) { written.append(data, size); }, value);
  c.value("bytes", static_cast<int64_t>(written.size()));
  const std::string bytes = written + "more";
  size_t at = 0;
  const auto reader = [&](char* into, size_t size) {
    const size_t n = std::min(size, bytes.size() - at);
    std::memcpy(into, bytes.data() + at, n);
    at += n;
    return n;
  };
  c.text("read", torch::jit::unpickle(reader, nullptr, {}).toStringRef());
}

PARITY_CASE(pickle, archives_with_any_value) {
  const std::vector<char> bytes = torch::pickle_save(state(c));
  const auto back = torch::jit::pickle_load_obj(std::string_view(bytes.data(), bytes.size())).toGenericDict();
  c.out("weight", back.at("weight").toTensor());
  c.out("bias", back.at("bias").toTensor());
  const std::vector<char> again = torch::jit::pickle_save(back);
  c.out("again", torch::jit::pickle_load(again).toGenericDict().at("weight").toTensor());
}

PARITY_CASE(pickle, wrong_pickles) {
  const auto read = [](const std::string& bytes) { torch::jit::unpickle(bytes.data(), bytes.size()); };
  c.throws("nothing", [&] { read(""); });
  c.throws("no pickle", [&] { read("abcdefg"); });
  const std::vector<char> hello = torch::jit::pickle(std::string("hello"));
  c.throws("truncated", [&] { torch::jit::unpickle(hello.data(), hello.size() - 3); });
  std::vector<torch::Tensor> table;
  const std::vector<char> dict = torch::jit::pickle(state(c), &table);
  c.throws("no table", [&] { torch::jit::unpickle(dict.data(), dict.size()); });
  table.pop_back();
  c.throws("short table", [&] { torch::jit::unpickle(dict.data(), dict.size(), nullptr, table); });
  c.throws("undefined", [&] { torch::jit::pickle(torch::Tensor()); });
  c.throws("archive", [&] { torch::jit::pickle_load_obj("no archive"); });
}
