// Code of TorchScript that is run: archives that Python's PyTorch wrote, and source texts; and what is wrong in it.
// parity.script_run compares with LibTorch.
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>
#include <thread>

namespace {

std::string path(const std::string& name) { return std::string(HALFBRIDGE_RECORDED_FILES) + "/script_" + name + ".pt"; }

template <typename F>
void expect_error(F run, const std::string& part) {
  try {
    run();
    FAIL() << "expected an error with '" << part << "'";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// The value of a function f of no arguments, or of these.
template <typename... Args>
torch::IValue run(const std::string& source, Args&&... args) {
  return torch::jit::compile(source)->run_method("f", std::forward<Args>(args)...);
}

TEST(ScriptRun, ArchivesComputeWhatWasRecorded) {
  auto module = torch::jit::load(path("net"));
  module.eval();
  const auto y = module.forward({module.attr("example").toTensor()}).toTensor();
  EXPECT_TRUE(torch::allclose(y, module.attr("expected").toTensor(), 1e-4, 1e-5));
  const auto frozen = torch::jit::freeze(module);
  // What is folded into constants may be rounded otherwise: by AVX2 one value differs in its last bit.
  const auto of_frozen = frozen.get_method("forward")({module.attr("example")}).toTensor();
  EXPECT_TRUE(torch::allclose(of_frozen, y, 1e-5, 1e-6)) << (of_frozen - y).abs().max();
}

TEST(ScriptRun, GradientsReachTheParameters) {
  auto module = torch::jit::load(path("net"));
  module.train();
  std::vector<torch::Tensor> parameters;
  for (const auto& parameter : module.parameters()) parameters.push_back(parameter);
  torch::optim::SGD sgd(parameters, 0.01);
  double first = 0, last = 0;
  for (int step = 0; step < 5; ++step) {
    sgd.zero_grad();
    auto loss = module.forward({module.attr("example")}).toTensor().pow(2).sum();
    loss.backward();
    sgd.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  EXPECT_LT(last, first);
}

TEST(ScriptRun, KindsOfTensors) {
  const std::string source = "def f(x):\n  return x.is_sparse_csr, x.is_meta";
  const auto kinds = [&](const torch::Tensor& x) {
    const auto both = run(source, x).toTuple();
    return std::pair(both->elements()[0].toBool(), both->elements()[1].toBool());
  };
  const auto x = torch::eye(3);
  EXPECT_EQ(kinds(x), std::pair(false, false));
  EXPECT_EQ(kinds(x.to_sparse_csr()), std::pair(true, false));
  EXPECT_EQ(kinds(torch::empty({3}, torch::kMeta)), std::pair(false, true));
}

TEST(ScriptRun, SavedWithItsCode) {
  auto module = torch::jit::load(path("net"));
  module.eval();
  {
    torch::NoGradGuard no_grad;
    for (const auto& parameter : module.parameters()) parameter.mul_(0.5);
  }
  std::stringstream stream;
  module.save(stream, {{"notes.txt", "halved"}});
  torch::jit::ExtraFilesMap extra = {{"notes.txt", ""}};
  auto again = torch::jit::load(stream, std::nullopt, extra);
  EXPECT_EQ(extra.at("notes.txt"), "halved");
  EXPECT_FALSE(again.is_training());
  const auto names = again.named_parameters();
  EXPECT_EQ(names.size(), module.named_parameters().size());
  const auto input = module.attr("example");
  EXPECT_TRUE(again.forward({input}).toTensor().equal(module.forward({input}).toTensor()));
  EXPECT_FALSE(torch::allclose(again.forward({input}).toTensor(), module.attr("expected").toTensor()));
}

TEST(ScriptRun, SeveralThreadsRunOneModule) {
  auto module = torch::jit::load(path("net"));
  module.eval();
  const auto input = module.attr("example").toTensor(), expected = module.attr("expected").toTensor();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      torch::NoGradGuard no_grad;
      for (int k = 0; k < 10; ++k) right += torch::allclose(module.forward({input}).toTensor(), expected, 1e-4, 1e-5);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST(ScriptRun, NumbersTextsAndContainers) {
  EXPECT_EQ(run("def f():\n  return -7 // 2 + -7 % 3").toInt(), -2);
  EXPECT_EQ(run("def f():\n  return 7 / 2").toDouble(), 3.5);
  EXPECT_TRUE(run("def f():\n  return 1 < 2 <= 2 and not (3 in [1, 2])").toBool());
  EXPECT_EQ(run("def f():\n  return '{}, {}'.format(1.0, [1, 2])").toStringRef(), "1., [1, 2]");
  EXPECT_EQ(run("def f():\n  a = [3, 1, 2]\n  a.sort()\n  return a[::-1]").toIntVector(),
            (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(
      run("def f():\n  d = {'a': 1}\n  d['b'] = 2\n  return [k + str(v) for k, v in d.items()]").toListRef().size(),
      2u);
  EXPECT_EQ(
      run("def f(n: int, *, k: int = 3):\n  s = 0\n  for i in range(n):\n    if i == k: break\n    s += i\n  return s",
          9)
          .toInt(),
      3);
  EXPECT_EQ(run("def f():\n  x = 5\n  while x > 0:\n    x -= 2\n    continue\n  return x").toInt(), -1);
  EXPECT_EQ(run("def g(x: int) -> int:\n  return x * 2\ndef f():\n  return g(g(3))").toInt(), 12);
  EXPECT_EQ(run("def f():\n  a, (b, c) = 1, (2, 3)\n  return a + b * c").toInt(), 7);
}

TEST(ScriptRun, Tensors) {
  const auto x = torch::arange(6.0f).view({2, 3});
  EXPECT_TRUE(
      run("def f(x):\n  return x[0, 1:] + x[..., -1].sum() * 2", x).toTensor().equal(torch::tensor({15.0f, 16.0f})));
  EXPECT_EQ(run("def f(x):\n  return x.view(3, 2).size()", x).toIntVector(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(run("def f(x):\n  y = x.clone()\n  y[y > 2] = 0.\n  y += 1\n  return int(y.sum())", x).toInt(), 9);
  EXPECT_EQ(run("def f(x):\n  return torch.zeros(2, 3, dtype=torch.int64).dtype == torch.long", x).toBool(), true);
  const auto results = run("def f(x):\n  return x.max(dim=1), x.shape, x.T", x);
  EXPECT_EQ(results.toTupleRef().elements()[0].toTupleRef().elements()[1].toTensor().sum().item<int64_t>(), 4);
}

TEST(ScriptRun, DefinedMethods) {
  torch::jit::Module module("net");
  module.register_parameter("w", torch::ones({2}, torch::requires_grad()), false);
  module.define("def scaled(self, x, by: float = 2.0):\n  return self.w * x * by\n");
  module.define("def forward(self, x):\n  return self.scaled(x, by=3.0) + self.scaled(x)\n");
  EXPECT_TRUE(module.forward({torch::ones({2})}).toTensor().equal(torch::full({2}, 5.0f)));
  EXPECT_TRUE(module.run_method("scaled", torch::ones({2}), 4.0).toTensor().equal(torch::full({2}, 4.0f)));
  EXPECT_EQ(module.get_method("scaled").num_inputs(), 3u);
  EXPECT_TRUE(module.get_method("scaled")({torch::ones({2})}, {{"by", 0.5}}).toTensor().equal(torch::full({2}, 0.5f)));
  EXPECT_TRUE(module.clone().forward({torch::ones({2})}).toTensor().requires_grad());
  auto unit = torch::jit::compile("def f(x: int, y: int = 4) -> int:\n  return x + y\n");
  EXPECT_EQ(unit->get_function("f")({1}).toInt(), 5);
  EXPECT_EQ(unit->find_function("g"), nullptr);
}

TEST(ScriptRun, CallsThatDoNotFit) {
  torch::jit::Module module("net");
  module.define("def forward(self, x, k: int = 2):\n  return x\n");
  expect_error([&] { module.forward({}); }, "missing value for argument 'x'");
  expect_error([&] { module.forward({torch::ones(1), 1, 2}); }, "expected at most 3 argument(s) but received 4");
  expect_error([&] { module.forward({torch::ones(1), "a"}); }, "Expected a value of type 'int' for argument 'k'");
  expect_error([&] { module.forward({1}); }, "Expected a value of type 'Tensor' for argument 'x'");
  expect_error([&] { module.forward({torch::ones(1)}, {{"z", 1}}); }, "Unknown keyword argument 'z'");
}

TEST(ScriptRun, ErrorsNameTheLine) {
  expect_error([] { run("def f():\n  x = 1\n  return torch.no_such_thing(x)"); }, "source:3");
  expect_error([] { run("def f():\n  return torch.no_such_thing(1)"); }, "Halfbridge has no function of this name");
  expect_error([] { run("def f(x):\n  return torch.softmax(x, 'a', [1])", torch::ones(1)); }, "variants are available");
  expect_error([] { run("def f():\n  raise ValueError('too ' + 'bad')"); }, "ValueError: too bad");
  expect_error([] { run("def f():\n  assert 1 > 2, 'order'"); }, "AssertionError: order");
  expect_error([] { run("def f():\n  return [1, 2][5]"); }, "list index out of range");
  expect_error([] { run("def f():\n  return {'a': 1}['b']"); }, "KeyError: b");
  expect_error([] { run("def f():\n  return y"); }, "undefined value y");
  expect_error([] { run("def f(x):\n  return x.no_such()", torch::ones(1)); }, "aten::no_such");
  expect_error([] { run("def f():\n  return 1 // 0"); }, "ZeroDivisionError");
  expect_error([] { run("def f() -> int:\n  return f()"); }, "may not call itself");
  expect_error([] { run("def f():\n  return torch.from_file('x')"); }, "may not be called from code");
}

TEST(ScriptRun, TextsThatAreNoCode) {
  for (const char* source :
       {"def", "def f(:\n  return 1", "def f():\nreturn 1", "def f():\n  return (1", "def f():\n  x = = 1",
        "def f():\n  'open", "x = 1", "def f(x x):\n  pass", "def f():\n    a = 1\n  b = 2\n   c = 3",
        "def f():\n  return 1 +", "def f():\n  if True\n    pass", "def f():\n  $"}) {
    EXPECT_THROW(torch::jit::compile(source), c10::Error) << source;
  }
  expect_error([] { torch::jit::compile("def f():\n  return " + std::string(100000, '(')); }, "200 levels");
  expect_error([] { torch::jit::compile("def f():\n  return " + std::string(100000, '-') + "1"); }, "200 levels");
  std::string sum = "def f():\n  return 1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  expect_error([&] { torch::jit::compile(sum); }, "200 levels");
  std::string blocks = "def f():\n";
  for (int i = 1; i < 1000; ++i) blocks += std::string(i, ' ') + "if True:\n";
  expect_error([&] { torch::jit::compile(blocks + std::string(1000, ' ') + "pass"); }, "levels");
  expect_error([] { torch::jit::compile("def f():\n  return 99999999999999999999")->run_method("f"); }, "64 bits");
}

}  // namespace
