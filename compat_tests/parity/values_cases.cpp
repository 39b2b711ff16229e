// c10::List, c10::Dict and c10::IValue as programs change them and ask them.
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <sstream>
#include <unordered_map>

#include "parity/case.h"

namespace {
template <typename T>
std::string text_of(const c10::List<T>& list) {
  std::ostringstream out;
  out << c10::IValue(list) << " " << list.size();
  return out.str();
}
}  // namespace

PARITY_CASE(values, lists_that_change) {
  c10::List<int64_t> list({4, 5, 6});
  list.append(c10::List<int64_t>({7, 8}));
  list.append(list.copy());
  c.text("append", text_of(list));
  list.insert(list.begin() + 1, 40);
  list.emplace(list.end(), 99);
  c.text("insert", text_of(list));
  auto next = list.erase(list.begin());
  c.value("after erase", static_cast<int64_t>(*next));
  list.erase(list.begin() + 1, list.begin() + 3);
  c.text("erase", text_of(list));
  list.resize(3);
  list.resize(5, 11);
  c.text("resize", text_of(list));
  c.value("extract", list.extract(0));
  list.set(0, 1);
  list.emplace_back(12);
  c.text("at last", text_of(list));
  list.resize(7);
  c.text("zeros", text_of(list));
}

PARITY_CASE(values, copies_of_lists) {
  c10::List<double> list({1.5, 2.5});
  auto same = list, other = list.copy();
  same.push_back(3.5);
  c.text("shared", text_of(list));
  c.text("copy", text_of(other));
  c.value("is", list.is(same));
  c.value("is not", list.is(other));
  c.value("owners", static_cast<int64_t>(list.use_count()));
  other.push_back(3.5);
  c.value("equal", list == other);
  other.pop_back();
  c.value("unequal", list != other);
}

PARITY_CASE(values, elements_of_lists) {
  c10::List<torch::Tensor> tensors({c.randn({2}), c.randn({3})});
  int64_t n = 0;
  for (auto element : tensors) {
    c.out("got" + std::to_string(n), element.get().toTensor());
    torch::Tensor converted = element;
    c.out("converted" + std::to_string(n++), converted);
  }
  c10::List<int64_t> numbers({3, 1, 2});
  *numbers.begin() = 30;
  numbers.begin()[1] = 10;
  numbers[2] = numbers[0];
  c.text("assigned", text_of(numbers));
  c.value("first", *numbers.begin() == int64_t{30});
  c.value("distance", static_cast<int64_t>(numbers.end() - numbers.begin()));
  c.value("order", numbers.begin() < numbers.end());
  swap(numbers[0], numbers[1]);
  c.text("swapped", text_of(numbers));
  c10::List<c10::IValue> any(c10::AnyType::get());
  any.push_back(1);
  any.push_back("text");
  for (auto element : any) c.text("kind", element.get().tagKind());
  c.throws("range", [&] { numbers.get(9); });
}

PARITY_CASE(values, dicts) {
  c10::Dict<std::string, int64_t> dict;
  dict.reserve(8);
  dict.insert("a", 1);
  auto same = dict;
  c.value("is", dict.is(same));
  c.value("is not", dict.is(dict.copy()));
  c.value("size", static_cast<int64_t>(dict.size()));
}

PARITY_CASE(values, tuples) {
  auto tuple = c10::ivalue::Tuple::create({c10::IValue(1), c10::IValue(2.5)});
  std::vector<c10::IValue> items = tuple->elements().vec();
  c.value("items", static_cast<int64_t>(items.size()));
  c.value("second", items[1].toDouble());
  c.value("reference", static_cast<int64_t>(c10::IValue(tuple).toTupleRef().elements().asArrayRef().size()));
  tuple->setElements(std::vector<c10::IValue>{c10::IValue(3)});
  c.value("set", tuple->elements()[0].toInt());
}

PARITY_CASE(values, texts) {
  c10::IValue text("shared");
  c10::IValue again(text.toString());
  c.text("again", again.toStringRef());
  c.text("made", c10::IValue(c10::ivalue::ConstantString::create("made")).toStringRef());
  c.value("optional", again.toOptionalStringRef().has_value());
  c.value("none", c10::IValue().toOptionalStringRef().has_value());
  c.text("kind", "unsupported tag " + again.tagKind());
  c10::Dict<c10::IValue, c10::IValue> dict(c10::StringType::get(), c10::IntType::get());
  dict.insert(text.toString(), 3);
  c.value("key", dict.at("shared").toInt());
}

PARITY_CASE(values, kinds) {
  const std::vector<std::pair<std::string, c10::IValue>> values = {
      {"tensor", torch::ones({2})},
      {"undefined", torch::Tensor()},
      {"int", 3},
      {"double", 2.5},
      {"bool", true},
      {"complex", c10::complex<double>(1, 2)},
      {"text", "t"},
      {"list", c10::List<int64_t>({1})},
      {"complex list", c10::List<c10::complex<double>>({c10::complex<double>(1, 2)})},
      {"tuple", c10::ivalue::Tuple::create({c10::IValue(1)})},
      {"dict", c10::Dict<std::string, int64_t>()},
      {"device", torch::Device("cpu")}};
  for (const auto& [name, value] : values) {
    c.value(name + " is a pointer", value.isPtrType());
    c.value(name + " is of LibTorch's other kinds", value.isCapsule() || value.isFuture() || value.isPyObject() ||
                                                        value.isRRef() || value.isStorage() || value.isStream() ||
                                                        value.isSymInt() || value.isEnum() || value.isBlob());
    c.value(name + " is a list of ints", value.isIntList());
    c.value(name + " is a list of complex numbers", value.isComplexDoubleList());
    c.value(name + " is itself", value.isSameIdentity(c10::IValue(value)));
    c.value(name + " is an alias", value.isAliasOf(c10::IValue(value)));
  }
  auto base = c.randn({4});
  c.value("view", c10::IValue(base).isAliasOf(c10::IValue(base.slice(0, 1, 3))));
  c.value("copy", c10::IValue(base).isAliasOf(c10::IValue(base.clone())));
  c.value("list", c10::IValue(c10::List<int64_t>({1})).isSameIdentity(c10::IValue(c10::List<int64_t>({1}))));
  c.text("nothing", c10::IValue().toNone());
  c.throws("no object", [] { c10::IValue(1).toObjectRef(); });
}

PARITY_CASE(values, lists_as_vectors) {
  c10::IValue sizes(std::vector<int64_t>{2, 3});
  c.value("sizes", static_cast<int64_t>(sizes.toDimVector().size()));
  c10::List<std::optional<torch::Tensor>> optional;
  optional.push_back(c.randn({2}));
  optional.push_back(std::nullopt);
  const auto tensors = c10::IValue(optional).toOptionalTensorVector();
  c.out("tensor", *tensors[0]);
  c.value("nothing", tensors[1].has_value());
  c10::List<c10::complex<double>> numbers({c10::complex<double>(1, 2)});
  c.value("complex", c10::IValue(numbers).toComplexDoubleVector()[0].imag());
}

PARITY_CASE(values, integers_of_all_widths) {
  std::unordered_map<std::string, c10::IValue> saved;
  saved["size"] = std::vector<int>{1, 2, 3}.size();
  saved["byte"] = uint8_t{7};
  saved["largest"] = static_cast<uint64_t>(INT64_MAX);
  saved["negative"] = int8_t{-5};
  for (const auto& [name, value] : saved) {
    c.text(name, value.tagKind());
    c.value(name + " is unsigned", value.isUnsigned());
    c.value(name + " as int64", value.to<int64_t>());
    c.value(name + " as int8", static_cast<int64_t>(value.to<int8_t>()));
    c.value(name + " as int16", static_cast<int64_t>(value.to<int16_t>()));
    c.value(name + " as uint8", static_cast<int64_t>(value.to<uint8_t>()));
    c.value(name + " as uint16", static_cast<int64_t>(value.to<uint16_t>()));
    c.value(name + " as uint32", static_cast<int64_t>(value.to<uint32_t>()));
    c.value(name + " as size", static_cast<int64_t>(value.to<size_t>()));
  }
  c.value("unsigned", static_cast<int64_t>(saved["size"].toUInt()));
  c.throws("negative", [&] { saved["negative"].toUInt(); });
  c.throws("no number", [&] { c10::IValue("text").toUInt(); });
  c.value("text is unsigned", c10::IValue("text").isUnsigned());
  const c10::IValue part(c10::complex<float>(1, 2));
  c.value("complex", part.toComplexDouble().imag());
}

PARITY_CASE(values, symbolic_sizes) {
  const c10::SymInt stride(4);
  std::unordered_map<std::string, c10::IValue> saved;
  saved["stride"] = stride;
  saved["sizes"] = c.randn({2, 3}).sym_sizes();
  saved["vector"] = std::vector<c10::SymInt>{5, 6};
  saved["plain"] = int64_t{8};
  c.value("stride", saved["stride"].toSymInt().expect_int());
  c.value("stride as int", saved["stride"].toInt());
  c.value("stride to", saved["stride"].to<c10::SymInt>().expect_int());
  c.value("plain", saved["plain"].toSymInt().expect_int());
  c.value("sizes", static_cast<int64_t>(saved["sizes"].toSymIntVector().size()));
  c.text("sizes as ints", text_of(saved["sizes"].toIntList()));
  c.throws("ints as tensors", [&] { saved["sizes"].toTensorList(); });
  c.throws("ints as doubles", [&] { saved["sizes"].toDoubleList(); });
  c.value("last", saved["vector"].toSymIntVector()[1].expect_int());
  c.value("list", static_cast<int64_t>(saved["vector"].toSymIntList().size()));
  c.value("vector", static_cast<int64_t>(saved["vector"].to<std::vector<c10::SymInt>>().size()));
  c.throws("no int", [&] { c10::IValue(2.5).toSymInt(); });
  c.throws("no list", [&] { saved["stride"].toSymIntVector(); });
  const c10::IValue some(at::OptionalIntArrayRef(std::vector<int64_t>{1, 2})), none{at::OptionalIntArrayRef()};
  c.value("some", static_cast<int64_t>(some.toIntVector().size()));
  c.value("none", none.isNone());
}

PARITY_CASE(values, tensors_that_change) {
  c10::IValue value(c.randn({2}));
  c10::IValue same = value;
  torch::Tensor& inside = value.toTensor();
  inside = c.randn({3});
  c.out("assigned", value.toTensor());
  c.out("copy", same.toTensor());
  value.toTensor().fill_(2);
  c.out("filled", inside);
}

PARITY_CASE(values, equal_tensors) {
  const auto one = c.randn({1}), several = c.randn({3});
  const c10::IValue a = one, copy = one.clone(), other = one + 1, b = several, same = several;
  c.value("of one element", a == copy);
  c.value("of another", a == other);
  c.value("not", a != copy);
  c.throws("several elements", [&] { (void)(b == same); });
  c10::impl::GenericList list(c10::AnyType::get()), again(c10::AnyType::get());
  list.push_back(b);
  again.push_back(same);
  c.value("the same in lists", c10::IValue(list) == c10::IValue(again));
  again.set(0, several.clone());
  c.throws("copies in lists", [&] { (void)(c10::IValue(list) == c10::IValue(again)); });
}
