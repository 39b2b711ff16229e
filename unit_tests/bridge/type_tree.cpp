// Types of texts, also of texts from strangers, and what values and classes say of theirs.
#include <ATen/core/class_type.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace c10;

struct Written {
  const char *text, *schema, *python;
};

TEST(TypeTree, ReadsBothForms) {
  const Written cases[] = {{"List[int]", "int[]", "List[int]"},
                           {"int[]", "int[]", "List[int]"},
                           {"Dict[str, List[Tensor]]", "Dict(str, Tensor[])", "Dict[str, List[Tensor]]"},
                           {"Dict(str, Tensor?)", "Dict(str, Tensor?)", "Dict[str, Optional[Tensor]]"},
                           {"Tuple[()]", "()", "Tuple[()]"},
                           {"Tuple[Tuple[()], int]", "((), int)", "Tuple[Tuple[()], int]"},
                           {"(int, float)", "(int, float)", "Tuple[int, float]"},
                           {"Optional[Optional[int]]", "int?", "Optional[int]"},
                           {"Union[str, int]", "Union(int, str)", "Union[int, str]"},
                           {"Union[NoneType, int]", "int?", "Optional[int]"},
                           {"number", "Scalar", "number"},
                           {"Future(int)", "Future(int)", "Future[int]"},
                           {"t[]", "t[]", "List[t]"},
                           {"__torch__.Net", "__torch__.Net", "__torch__.Net"},
                           {"Optional[__torch__.a.Net]", "__torch__.a.Net?", "Optional[__torch__.a.Net]"}};
  for (const Written& one : cases) {
    const TypePtr type = hb::make_type(one.text);
    EXPECT_EQ(type->str(), one.schema) << one.text;
    EXPECT_EQ(type->annotation_str(), one.python) << one.text;
    EXPECT_EQ(*type, *hb::make_type(one.schema)) << one.text;
  }
}

TEST(TypeTree, TakesAnyText) {
  for (const char* text : {"", "List[", "List[int", "Dict[int]", "int]", "(int", "List[int] x", "?", "Tuple[int,]",
                           "[]", "Optional[int, str]", "a b"}) {
    const TypePtr type = hb::make_type(text);
    EXPECT_EQ(type->kind(), TypeKind::ClassType) << text;
    EXPECT_EQ(type->str(), text);
  }
  std::string deep = "int", suffixes = "int";
  for (int i = 0; i < 100000; ++i) deep = i < 2000 ? "List[" + deep + "]" : deep, suffixes += "?";
  EXPECT_EQ(hb::make_type(deep)->kind(), TypeKind::ClassType);
  EXPECT_EQ(hb::make_type(suffixes)->kind(), TypeKind::ClassType);
}

TEST(TypeTree, DeepValuesHaveDeepTypes) {
#ifdef __SANITIZE_THREAD__  // which ends where a thread calls deeper than 2^16 functions
  constexpr size_t kDepth = 2000;
#else
  constexpr size_t kDepth = 100000;
#endif
  IValue value(1);
  for (size_t i = 0; i < kDepth; ++i) value = IValue(ivalue::Tuple::create(std::vector<IValue>{value}));
  const TypePtr type = value.type();
  EXPECT_EQ(type->kind(), TypeKind::TupleType);
  EXPECT_EQ(type->str().size(), kDepth * 2 + 3);
  EXPECT_EQ(*type, *value.type());
}

TEST(TypeTree, ExpectNamesBothKinds) {
  try {
    IntType::get()->expect<ListType>();
    FAIL() << "an int is no list";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("ListType"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("IntType"), std::string::npos) << error.what();
  }
}

// Objects that hold each other: a class may stand in its own attributes.
TEST(TypeTree, ObjectsThatReferToEachOther) {
  torch::jit::Module a("A"), b("B");
  a.register_module("b", b);
  b.register_attribute("a", a.type(), IValue(a._ivalue()));
  a._ivalue()->setAttr("b", IValue(b._ivalue()));
  EXPECT_EQ(b.type()->getAttribute("a")->str(), "__torch__.A");
  EXPECT_EQ(a.type()->getAttribute("b")->str(), "__torch__.B");
  b._ivalue()->setAttr("a", IValue());
}

TEST(TypeTree, TypesOfClassesAreMadeOnce) {
  torch::jit::Module module("Net");
  module.register_attribute("n", IntType::get(), IValue(4));
  std::vector<std::thread> threads;
  std::vector<ClassTypePtr> types(4);
  for (auto& type : types) threads.emplace_back([&module, &type] { type = module.type(); });
  for (auto& thread : threads) thread.join();
  for (const auto& type : types) EXPECT_EQ(type, types[0]);
  module.register_attribute("m", IntType::get(), IValue(5));
  EXPECT_EQ(types[0]->numAttributes(), 1u);
  EXPECT_EQ(module.type()->numAttributes(), 2u);
}

TEST(TypeTree, MethodsRunAsync) {
  torch::jit::Module module("Net");
  module.define("def forward(self, x: int) -> int:\n  return x + 1\n");
  auto done = module.get_method("forward").run_async({IValue(2)});
  EXPECT_EQ(done->value().toInt(), 3);
  std::thread worker;
  auto later = module.get_method("forward").run_async(
      {IValue(4)}, {}, [&](std::function<void()> task) { worker = std::thread(std::move(task)); });
  later->wait();
  EXPECT_EQ(later->value().toInt(), 5);
  worker.join();
  auto failed = module.get_method("forward").run_async({IValue("text")});
  EXPECT_TRUE(failed->hasError());
  EXPECT_EQ(failed->elementType()->str(), "int");
}

}  // namespace
