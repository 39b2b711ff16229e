// Registered operators: what no parity case can show, since LibTorch is laxer or has nothing like it.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;
using torch::jit::parseSchema;

std::string said(const std::string& text) {
  try {
    parseSchema(text);
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "nothing";
}

const char* const kSchema =
    "ns::f.over(Tensor(a!) x, Tensor?[] y, Dict(str, (int, Tensor)[]) d, int[2] z=1, float[] w=[1., -2.5e3], str "
    "s=\"a\\\"b\", *, "
    "ScalarType? t=None, Device? e=None, bool b=True) -> (Tensor(a!), Tensor[] more)";

TEST(DispatchSchema, ErrorsNameThePlace) {
  EXPECT_NE(said("f(Tensor x").find("(position 10)"), std::string::npos);
  EXPECT_NE(said("f(Tensr x) -> Tensor").find("'Tensr'"), std::string::npos);
  EXPECT_NE(said("f(Tensor x) -> Tensor y garbage").find("expected eof but found 'ident'"), std::string::npos);
  EXPECT_NE(said("f(int x=1.5) -> int").find("expected an integer"), std::string::npos);
  EXPECT_NE(said("f(Tensor x=3) -> int").find("expected None"), std::string::npos);
}

TEST(DispatchSchema, HostileTextsAreBounded) {
  EXPECT_NE(said("f(" + std::string(100000, '(')).find("at most"), std::string::npos);
  EXPECT_NE(said("f(" + std::string(1000, '(')).find("nested"), std::string::npos);
  std::string dicts = "f(";
  for (int i = 0; i < 1000; ++i) dicts += "Dict(int, ";
  EXPECT_NE(said(dicts).find("nested"), std::string::npos);
  std::string lists = "f(Tensor";
  for (int i = 0; i < 10000; ++i) lists += "[]";
  EXPECT_NE(said(lists + " x) -> ()").find("shorter"), std::string::npos);
  EXPECT_NE(said("f(int[1000000000] x=0) -> ()").find("1024"), std::string::npos);
  EXPECT_NE(said("f(int[99999999999] x) -> ()").find("length of a list"), std::string::npos);
  EXPECT_NE(said("f(int x=99999999999999999999) -> ()").find("64 bits"), std::string::npos);
}

TEST(DispatchSchema, EveryPrefixAndManyMutationsEndInAnAnswer) {
  const std::string whole = kSchema;
  EXPECT_NO_THROW(parseSchema(whole));
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string prefix = whole.substr(0, length);
    if (said(prefix) == "nothing") ADD_FAILURE() << prefix;
  }
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    for (int changes = 0; changes < 3; ++changes) {
      const size_t place = random() % text.size();
      if (random() % 2) {
        text[place] = "()[]?*!=,.->:\"\\a1 \x80"[random() % 20];
      } else {
        text.erase(place, 1 + random() % 5);
      }
    }
    refused += said(text) != "nothing";
  }
  EXPECT_GT(refused, 10000);
}

TEST(DispatchSchema, PrintsWhatItReads) {
  const auto schema = parseSchema(kSchema);
  EXPECT_EQ(parseSchema(toString(schema)), schema) << schema;
  const auto bytes = parseSchema(R"(f(str s="\000\377\0") -> ())");  // three octal digits, as it prints
  EXPECT_EQ(bytes.arguments()[0].default_value()->toStringRef(), std::string("\0\3770", 3));
  EXPECT_EQ(parseSchema(toString(bytes)), bytes) << bytes;
  const auto named = parseSchema("f(Tensor x) -> (Tensor y)");  // one result prints without parentheses
  EXPECT_EQ(parseSchema(toString(named)), named) << named;
  EXPECT_EQ(parseSchema("f(Tensor x) -> Tensor y").returns()[0].name(), "y");
  for (const char* text :
       {"f(Tensor(a!)?[] x) -> ()", "f(Tensor(a!)[]?[] x) -> ()", "f(Tensor(a!)[] x) -> (Tensor(a!))"}) {
    const auto annotated = parseSchema(text);
    EXPECT_EQ(parseSchema(toString(annotated)), annotated) << annotated;
  }
  EXPECT_EQ(parseSchema("f(Tensor\nx) -> (Tensor\ny)").returns()[0].name(), "y");
  EXPECT_THROW(parseSchema("f(Tensor x) -> Tensor\ny"), c10::Error);  // a result ends with its line
}

TEST(DispatchSchema, ChecksArguments) {
  const auto schema = parseSchema("f(Tensor x, int[2] n=1, *, float? by=None) -> Tensor");
  torch::jit::Stack stack{torch::ones({1})};
  schema.checkAndNormalizeInputs(stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(stack[1].toIntVector(), (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(stack[2].isNone());
  torch::jit::Stack wrong{c10::IValue(5)};
  EXPECT_THROW(schema.checkAndNormalizeInputs(wrong), c10::Error);
  torch::jit::Stack none;
  EXPECT_THROW(schema.checkAndNormalizeInputs(none), c10::Error);
}

TEST(DispatchKeys, EveryKeyHasAName) {
  const auto last = static_cast<uint16_t>(c10::DispatchKey::EndOfAliasKeys);
  int named = 0;
  for (uint16_t i = 0; i <= last; ++i) {
    const auto key = static_cast<c10::DispatchKey>(i);
    const std::string name = toString(key);
    if (name == "UNKNOWN_TENSOR_TYPE_ID") continue;  // the marks between the groups
    EXPECT_EQ(c10::parseDispatchKey(name), key) << name;
    ++named;
  }
  EXPECT_EQ(named, 48 + 6 * 16 + 6);
  int in_full = 0;
  for (c10::DispatchKey key : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) {
    EXPECT_TRUE(c10::DispatchKeySet(key).has(key));
    EXPECT_EQ(c10::DispatchKeySet(key).highestPriorityTypeId(), key);
    ++in_full;
  }
  EXPECT_EQ(in_full, 47 - 6 + 6 * 16);
}

TEST(DispatchThreads, CallsRunWhileOthersRegister) {
  torch::Library library(torch::Library::FRAGMENT, "hb_threads", std::nullopt, __FILE__, __LINE__);
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return x * 2; });
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow("hb_threads::twice", "").typed<Tensor(const Tensor&)>();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      const Tensor x = torch::ones({2});
      while (!stop) wrong += op.call(x)[0].item<float>() != 2;
    });
  }
  for (int i = 0; i < 300; ++i) {
    torch::Library other(torch::Library::FRAGMENT, "hb_threads", std::nullopt, __FILE__, __LINE__);
    other.def("other" + std::to_string(i % 7) + "(Tensor x) -> Tensor");
    other.impl("twice", c10::DispatchKey::CUDA, [](const Tensor& x) { return x; });
  }
  stop = true;
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DispatchOperators, AHandleOutlivesItsLibrary) {
  std::optional<c10::OperatorHandle> op;
  {
    torch::Library library(torch::Library::FRAGMENT, "hb_brief", std::nullopt, __FILE__, __LINE__);
    library.def("f(Tensor x) -> Tensor", [](const Tensor& x) { return x; });
    op = c10::Dispatcher::singleton().findSchema({"hb_brief::f", ""});
  }
  ASSERT_TRUE(op.has_value());
  EXPECT_FALSE(op->hasSchema());
  EXPECT_THROW(op->schema(), c10::Error);
}

TEST(DispatchOperators, EveryFunctionOfTheLibraryHasASchema) {
  size_t own = 0;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    ASSERT_TRUE(op.has_value()) << name;
    ++own;
  }
  EXPECT_GT(own, 850U);
}

TEST(DispatchOperators, WhatTheLibraryLacksIsRefusedByName) {
  try {
    c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "out");
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("Could not find schema for aten::add.out"), std::string::npos);
  }
}

struct Heard : c10::WarningHandler {
  std::vector<std::string> messages;
  void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
};

TEST(DispatchOperators, AProgramsFunctionForOneOfTheLibrarysIsReachedByTheDispatcherAlone) {
  using Relu = Tensor(const Tensor&);
  Heard heard;
  const Tensor x = torch::full({2}, -1.0);
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&heard);
    torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
    library.impl("relu", [](const Tensor& t) { return t + 41; });
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::relu", "").typed<Relu>();
    EXPECT_EQ(op.call(x)[0].item<float>(), 40);
    EXPECT_EQ(torch::relu(x)[0].item<float>(), 0);
  }
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::relu", "").typed<Relu>();
  EXPECT_EQ(op.call(x)[0].item<float>(), 0);
  ASSERT_FALSE(heard.messages.empty());
  EXPECT_NE(heard.messages[0].find("aten::relu"), std::string::npos);
}

struct Pair : torch::CustomClassHolder {
  int64_t number;
  std::vector<std::string> names;
  Pair(int64_t number, std::vector<std::string> names) : number(number), names(std::move(names)) {}
};
struct Mute : torch::CustomClassHolder {};
TORCH_LIBRARY(hb_unit, m) {
  m.class_<Mute>("Mute");
  m.class_<Pair>("Pair").def_pickle(
      [](const c10::intrusive_ptr<Pair>& self) { return std::make_tuple(self->number, self->names); },
      [](std::tuple<int64_t, std::vector<std::string>> state) {
        return c10::make_intrusive<Pair>(std::get<0>(state), std::get<1>(state));
      });
}

TEST(DispatchClasses, ObjectsAreSavedByTheirState) {
  const c10::IValue value(c10::make_intrusive<Pair>(5, std::vector<std::string>{"first"}));
  const auto back = torch::pickle_load(torch::pickle_save(value)).toCustomClass<Pair>();
  EXPECT_EQ(back->number, 5);
  EXPECT_EQ(back->names, std::vector<std::string>{"first"});
  EXPECT_THROW(torch::pickle_save(c10::make_intrusive<Mute>()), c10::Error);
  EXPECT_THROW(value.toCustomClass<Mute>(), c10::Error);
}

struct Unregistered : torch::CustomClassHolder {};

TEST(DispatchClasses, AnUnregisteredClassIsRefused) {
  EXPECT_THROW(c10::IValue(c10::make_intrusive<Unregistered>()), c10::Error);
  EXPECT_THROW(torch::class_<Unregistered>("hb unit", "Name"), c10::Error);
}

TEST(DispatchValues, NumbersGeneratorsAndTypes) {
  const c10::IValue complex{at::Scalar(c10::complex<double>(1, 2))};
  EXPECT_TRUE(complex.isComplexDouble());
  EXPECT_EQ(complex.toScalar().toComplexDouble().imag(), 2);
  const c10::IValue dtype(torch::kHalf);
  EXPECT_EQ(dtype.toScalarType(), torch::kHalf);
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
  EXPECT_TRUE(c10::IValue(generator).isGenerator());
  EXPECT_EQ(c10::IValue(generator).toGenerator(), generator);
}

}  // namespace
