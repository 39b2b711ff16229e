// Modules that a program built, or added to, are written with code that says what they are. interop.* lets LibTorch
// read such files.
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>

namespace {

std::string path(const std::string& name) { return std::string(HALFBRIDGE_RECORDED_FILES) + "/script_" + name + ".pt"; }

torch::jit::Module saved(const torch::jit::Module& module) {
  std::stringstream stream;
  module.save(stream);
  return torch::jit::load(stream);
}

torch::jit::Module child(const std::string& source) {
  torch::jit::Module made("Child");
  if (!source.empty()) made.define(source);
  return made;
}

TEST(ScriptSave, RegisteredThings) {
  torch::jit::Module module("Sample"), inner("pkg.Inner");
  module.register_buffer("e", torch::ones({2}));
  module.register_parameter("w", torch::ones({3}, torch::requires_grad()), false);
  module.register_parameter("0.odd name", torch::zeros({1}), false);
  module.register_attribute("count", c10::IntType::get(), 3);
  module.register_attribute("none", c10::OptionalType::create(c10::IntType::get()), torch::IValue());
  inner.register_buffer("deep", torch::arange(2));
  module.register_module("inner", inner);
  const auto again = saved(module);
  EXPECT_EQ(again.named_parameters().size(), 2u);
  EXPECT_EQ(again.named_buffers().size(), 2u);
  EXPECT_TRUE(again.attr("w").toTensor().requires_grad());
  EXPECT_TRUE(again.attr("0.odd name").toTensor().equal(torch::zeros({1})));
  EXPECT_EQ(again.attr("count").toInt(), 3);
  EXPECT_TRUE(again.attr("none").isNone());
  EXPECT_THROW(again.setattr("none", "text"), c10::Error);
  EXPECT_TRUE(again.attr("inner").toModule().attr("deep").toTensor().equal(torch::arange(2)));
  EXPECT_EQ(again.type()->annotation_str(), "__torch__.Sample");
}

TEST(ScriptSave, ClassesOfOneName) {
  torch::jit::Module module("Net");
  module.register_module("a", child("def forward(self, x):\n    return x + 1\n"));
  module.register_module("b", child("def forward(self, x):\n    return x + 2\n"));
  module.register_module("same", child("def forward(self, x):\n    return x + 1\n"));
  module.define("def forward(self, x):\n    return self.a.forward(x) * self.b.forward(x) * self.same.forward(x)\n");
  auto again = saved(module);
  EXPECT_EQ(again.forward({torch::ones({1})}).toTensor().item<float>(), 12);
  EXPECT_EQ(again.attr("b").toModule().type()->annotation_str(), "__torch__.___torch_mangle_0.Child");
  EXPECT_EQ(again.attr("same").toModule().type()->annotation_str(), "__torch__.Child");
  // Of a list, only the class that the pickle's type names can be told.
  c10::impl::GenericList list(again.attr("a").toModule().type());
  list.push_back(module.attr("b"));
  torch::jit::Module holder("Holder");
  holder.register_module("a", child("def forward(self, x):\n    return x + 1\n"));
  holder.register_attribute("list", c10::ListType::create(again.attr("a").toModule().type()), list);
  EXPECT_THROW(saved(holder), c10::Error);
}

TEST(ScriptSave, DefinedMethods) {
  torch::jit::Module module("Net");
  module.register_parameter("w", torch::tensor({2.0f}), false);
  module.define(R"(
      def text(self) -> str:
          return '''one
  "two"'''
      # between
      def scaled(self, x, by: float = 2.0, *, plus: int = 1):
          if by > 1.0:
              y = self.w * x * \
                  by
          else:
              y = x

          return y + plus
  )");
  module.define("def forward(self, x):\n\treturn self.scaled(x) / self.scaled(x, by=0.5)\n");
  module.define("def gone(self, x):\n    return x\n");
  module.define("def gone(self, x):\n    return x + 1\n");
  auto again = saved(saved(module));
  const auto x = torch::tensor({3.0f});
  EXPECT_EQ(again.run_method("text").toStringRef(), "one\n  \"two\"");
  EXPECT_TRUE(again.forward({x}).toTensor().equal(module.forward({x}).toTensor()));
  EXPECT_EQ(again.get_method("scaled")({x}, {{"plus", 4}}).toTensor().item<float>(), 16);
  EXPECT_EQ(again.run_method("gone", x).toTensor().item<float>(), 4);
}

// LibTorch has no calls of modules themselves; what is written has to run there.
TEST(ScriptSave, CallsOfChildren) {
  torch::jit::Module module("Net"), middle("Middle");
  middle.register_module("inner", child("def forward(self, x):\n    return x + 1\n"));
  middle.define("def forward(self, x):\n    return self.inner(x) * 2\n");
  module.register_module("middle", middle);
  module.define("def size(self, x):\n    return x.size(0)\n");
  module.define(R"(
    def forward(self, x):
        'self.middle(x)'  # self.middle(x)
        return self.middle (self.middle.inner(x)) * self.size(x)
  )");
  std::stringstream stream;
  module.save(stream);
  const std::string written = stream.str();
  EXPECT_NE(written.find("self.middle .forward(self.middle.inner.forward(x)) * self.size(x)"), std::string::npos);
  EXPECT_NE(written.find("'self.middle(x)'  # self.middle(x)"), std::string::npos);
  EXPECT_NE(written.find("return self.inner.forward(x) * 2"), std::string::npos);
  auto again = torch::jit::load(stream);
  EXPECT_EQ(again.forward({torch::ones({1})}).toTensor().item<float>(), 6);
}

TEST(ScriptSave, AddedToALoadedModule) {
  auto module = torch::jit::load(path("net"));
  module.eval();
  module.register_buffer("more", torch::full({1}, 3.0));
  module.define("def twice(self, x):\n  return self.forward(x) + self.forward(x) + self.more");
  auto stem = module.attr("stem").toModule();
  stem.register_parameter("extra", torch::ones({1}), false);
  torch::jit::Module own("Block");
  own.define("def forward(self):\n  return 7\n");
  module.register_module("own", own);  // the archive has another class Block
  auto again = saved(module);
  const auto input = module.attr("example");
  EXPECT_TRUE(again.run_method("twice", input).toTensor().equal(module.run_method("twice", input).toTensor()));
  EXPECT_EQ(again.named_parameters().size(), module.named_parameters().size());
  EXPECT_EQ(again.named_buffers().size(), module.named_buffers().size());
  EXPECT_EQ(again.attr("own").toModule().run_method("forward").toInt(), 7);
  EXPECT_EQ(again.type()->annotation_str(), "__torch__.Net");

  again.define("def forward(self, x):\n  return x");
  auto replaced = saved(again);
  EXPECT_TRUE(replaced.forward({input}).toTensor().equal(input.toTensor()));
  EXPECT_TRUE(saved(replaced).run_method("twice", input).toTensor().equal(input.toTensor() * 2 + 3));
}

TEST(ScriptSave, OneOfTwoObjectsOfAClassChanged) {
  torch::jit::Module pair("Pair");
  pair.register_module("a", child("def forward(self, x: int) -> int:\n    return x + 1\n"));
  pair.register_module("b", child("def forward(self, x: int) -> int:\n    return x + 1\n"));
  auto module = saved(pair);
  module.attr("a").toModule().register_attribute("n", c10::IntType::get(), 5);
  const auto again = saved(module);
  EXPECT_EQ(again.attr("a").toModule().attr("n").toInt(), 5);
  EXPECT_FALSE(again.attr("b").toModule().hasattr("n"));
  EXPECT_EQ(again.attr("a").toModule().run_method("forward", 1).toInt(), 2);
  EXPECT_EQ(again.attr("b").toModule().run_method("forward", 1).toInt(), 2);
}

TEST(ScriptSave, DumpsShowSources) {
  auto module = torch::jit::load(path("net"));
  module.define("def twice(self, x):\n  return x + x");
  const std::string text = module.dump_to_str(true, false, false);
  EXPECT_NE(text.find("    method twice {\n      def twice(self, x):\n        return x + x\n    }\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("def forward(self: __torch__.Net,"), std::string::npos);
  EXPECT_NE(
      text.find("    module __torch__.torch.nn.modules.linear.Linear {\n      parameters {\n        weight = ...\n"),
      std::string::npos);
}

TEST(ScriptSave, WhatIsNotWritten) {
  auto module = torch::jit::load(path("net"));
  module.register_module("other", torch::jit::load(path("net")));
  EXPECT_THROW(saved(module), c10::Error);  // two archives' code
}

}  // namespace
