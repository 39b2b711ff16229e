// Archives that Python's PyTorch wrote from scripted and traced modules (unit_tests/io/python_files/record_scripts.py):
// what can be read of them without running their code.
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/script.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "case.h"
#include "recorded_file.h"

namespace {

std::string path(const std::string& name) { return parity::recorded_file("script_" + name + ".pt"); }

torch::jit::script::Module load(const std::string& name) { return torch::jit::load(path(name)); }

// Everything that the lists of a module name, in their order.
void record_lists(parity::Case& c, const torch::jit::Module& module) {
  for (const auto& item : module.named_parameters()) {
    c.out("parameter." + item.name, item.value);
    c.value("requires_grad." + item.name, item.value.requires_grad());
  }
  for (const auto& item : module.named_buffers()) c.out("buffer." + item.name, item.value);
  std::string attributes, modules, children;
  for (const auto& item : module.named_attributes()) attributes += item.name + ":" + item.value.tagKind() + "\n";
  for (const auto& item : module.named_modules()) {
    const std::string type = item.value.type()->repr_str();  // LibTorch adds the address of a compilation unit
    modules += item.name + ";" + type.substr(0, type.find(" (of ")) + "\n";
  }
  for (const auto& item : module.named_children()) children += item.name + "\n";
  c.text("attributes", attributes);
  c.text("modules", modules);
  c.text("children", children);
  c.value("parameters", static_cast<int64_t>(module.parameters().size()));
  c.value("own parameters", static_cast<int64_t>(module.parameters(false).size()));
  c.value("buffers", static_cast<int64_t>(module.buffers().size()));
  c.value("own attributes", static_cast<int64_t>(module.attributes(false).size()));
}

}  // namespace

PARITY_CASE(script, lists) {
  for (const char* name : {"net", "traced", "sequence", "everything", "frozen"}) {
    c.scope(name, [&] { record_lists(c, load(name)); });
  }
}

PARITY_CASE(script, attributes) {
  const auto module = load("everything");
  std::ostringstream text;
  for (const char* name : {"number", "sizes", "word", "scale", "flag", "title", "rotation", "names", "table", "nothing",
                           "pair", "ints", "device", "training", "no_weight", "absent"}) {
    const torch::IValue value = module.attr(name);
    text << name << " " << value.tagKind() << " " << value << "\n";
    c.value(std::string("has ") + name, module.hasattr(name));
  }
  c.text("values", text.str());
  c.value("number", module.attr("number").toInt());
  c.value("y", module.attr("table").toGenericDict().at("y").toInt());
  c.text("name", module.attr("names").toList().get(1).toStringRef());
  c.value("pair", module.attr("pair").toTupleRef().elements()[1].toDouble());
  c.out("tensors", module.attr("tensors").toTensorVector()[0]);
  c.out("view", module.attr("view").toTensor());
  c.value("shares", module.attr("view").toTensor().data_ptr() == module.attr("plain").toTensor().data_ptr<float>() + 1);
  c.value("missing", module.attr("missing", 5).toInt());
  c.value("has missing", module.hasattr("missing"));
  c.value("tied", module.attr("tied").toModule() == module.attr("child").toModule());
  c.value("is module", module.attr("child").isModule() && !module.attr("title").isModule());
  c.out("of a child", module.attr("child").toModule().attr("weight").toTensor());
  c.throws("no attribute", [&] { module.attr("missing"); });
}

PARITY_CASE(script, changes) {
  auto module = load("everything");
  c.value("training", module.is_training());
  module.eval();
  c.value("evaluating", module.is_training() || module.attr("up").toModule().attr("right").toModule().is_training());
  module.train();
  c.value("training again", module.is_training());
  module.setattr("scale", 2.0);
  module.setattr("weight", torch::ones({1, 2}));
  c.value("scale", module.attr("scale").toDouble());
  c.out("weight", module.attr("weight").toTensor());
  module.setattr("nothing", torch::ones({1}));
  module.setattr("names", c10::List<std::string>({"c"}));
  c.throws("type", [&] { module.setattr("scale", "two"); });
  c.throws("constant", [&] { module.setattr("number", 8); });
  c.throws("missing", [&] { module.setattr("missing", 8); });
  const auto frozen = load("frozen");
  auto copy = frozen;
  copy.eval();
  c.value("frozen", copy.named_parameters().size() == 0);
}

PARITY_CASE(script, to) {
  for (const char* name : {"net", "everything"}) {
    c.scope(name, [&] {
      auto module = load(name);
      const auto first = *module.parameters().begin();
      module.to(torch::kDouble);
      c.value("in place", first.scalar_type() == torch::kDouble);
      module.to(torch::Device(torch::kCPU), torch::kHalf, false);
      module.to(at::kCPU);
      record_lists(c, module);
    });
  }
}

PARITY_CASE(script, copies) {
  const auto module = load("net");
  const auto weight = [](const torch::jit::Module& of) { return of.attr("fc").toModule().attr("weight").toTensor(); };
  auto shallow = module.copy(), deep = module.deepcopy(), clone = module.clone(), inplace = module.clone(true);
  c.value("shallow", weight(shallow).is_same(weight(module)));
  c.value("deep", weight(deep).data_ptr() == weight(module).data_ptr());
  c.value("clone", weight(clone).data_ptr() == weight(module).data_ptr());
  c.value("inplace", weight(inplace).data_ptr() == weight(module).data_ptr());
  shallow.setattr("training", true);
  deep.setattr("training", true);
  c.value("training", module.is_training());
  int64_t modules = 0;
  deep.apply([&](torch::jit::Module&) { ++modules; });
  c.value("modules", modules);
  c.value("equal", module == module && !(module == deep));
}

PARITY_CASE(script, sources) {
  torch::jit::ExtraFilesMap files{{"labels.txt", ""}, {"absent.txt", "kept"}};
  auto module = torch::jit::load(path("net"), torch::kCPU, files);
  c.text("labels", files["labels.txt"]);
  c.text("absent", files["absent.txt"]);
  std::ifstream stream(path("net"), std::ios::binary);
  const auto streamed = torch::jit::load(stream);
  c.out("streamed", streamed.attr("fc").toModule().attr("bias").toTensor());
  c.throws("missing file", [] { torch::jit::load("/nowhere/module.pt"); });
  c.throws("no archive", [] {
    std::istringstream text("not an archive at all, and long enough to be one");
    torch::jit::load(text);
  });
  c.throws("no module", [] { torch::jit::load(parity::recorded_file("checkpoint.pt")); });
}

PARITY_CASE(script, methods) {
  const auto module = load("everything");
  c.value("forward", module.find_method("forward").has_value());
  c.value("describe", module.find_method("describe").has_value());
  c.value("none", module.find_method("nothing_such").has_value());
  c.text("name", module.get_method("describe").name());
  c.value("methods", static_cast<int64_t>(module.get_methods().size()));
  c.throws("undefined", [&] { module.get_method("nothing_such"); });
}

PARITY_CASE(script, built) {
  torch::jit::Module module("Net"), child("Child");
  module.register_parameter("weight", torch::ones({2}), false);
  module.register_buffer("mean", torch::zeros({1}));
  module.register_attribute("training", c10::BoolType::get(), true);
  child.register_parameter("bias", torch::zeros({3}), false);
  module.register_module("child", child);
  module.eval();
  record_lists(c, module);
}

// Weights of an archive in a network of C++, which computes what the scripted one did.
PARITY_CASE(script, into_native) {
  struct BlockImpl : torch::nn::Module {
    BlockImpl(int64_t inputs, int64_t outputs)
        : conv1(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1).bias(false)),
          bn1(outputs),
          conv2(torch::nn::Conv2dOptions(outputs, outputs, 3).padding(1)) {
      register_module("conv1", conv1);
      register_module("bn1", bn1);
      register_module("conv2", conv2);
      if (inputs != outputs) skip = register_module("skip", torch::nn::Conv2d(inputs, outputs, 1));
    }
    torch::Tensor forward(torch::Tensor x) {
      auto y = conv2(torch::relu(bn1(conv1(x))));
      return torch::relu(y + (skip ? skip(x) : x));
    }
    torch::nn::Conv2d conv1;
    torch::nn::BatchNorm2d bn1;
    torch::nn::Conv2d conv2, skip{nullptr};
  };
  auto net = std::make_shared<torch::nn::Module>("Net");
  torch::nn::Sequential stem(torch::nn::Conv2d(1, 3, 3), torch::nn::BatchNorm2d(3), torch::nn::ReLU());
  torch::nn::ModuleList blocks;
  blocks->push_back(std::make_shared<BlockImpl>(3, 3));
  blocks->push_back(std::make_shared<BlockImpl>(3, 4));
  torch::nn::Linear fc(4, 2);
  net->register_module("stem", stem);
  net->register_module("blocks", blocks);
  net->register_module("fc", fc);
  for (const char* name : {"net", "traced"}) {
    torch::load(net, path(name));
    net->eval();
    auto x = load("net").attr("example").toTensor();
    x = stem->forward(x);
    for (const auto& block : *blocks) x = block->as<BlockImpl>()->forward(x);
    const auto y = fc(x.mean(torch::IntArrayRef{2, 3}));
    c.out(std::string(name) + ".y", y);
    c.check(torch::allclose(y, load("net").attr("expected").toTensor(), 1e-4, 1e-6), "what Python computed");
  }
}

namespace {
struct Reader : caffe2::serialize::ReadAdapterInterface {
  explicit Reader(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  size_t size() const override { return bytes.size(); }
  size_t read(uint64_t pos, void* buf, size_t n, const char* /*what*/) const override {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(pos), n, static_cast<char*>(buf));
    return n;
  }
  std::string bytes;
};
}  // namespace

PARITY_CASE(script, reader_of_the_program) {
  const std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader = std::make_shared<Reader>(path("net"));
  record_lists(c, torch::jit::load(reader));
  record_lists(c, torch::jit::load(reader, torch::kCPU));
}

PARITY_CASE(script, switches) {
  c.value("fuser", torch::jit::tensorExprFuserEnabled());
  torch::jit::setTensorExprFuserEnabled(false);
  c.value("off", torch::jit::tensorExprFuserEnabled());
  torch::jit::setTensorExprFuserEnabled(true);
}

PARITY_CASE(script, dump_to_str) {
  torch::jit::Module module("Net"), child("Child");
  module.register_buffer("e", torch::ones({2}));
  module.register_parameter("w", torch::ones({2, 2}), false);
  module.register_attribute("count", c10::IntType::get(), 3);
  module.register_attribute("title", c10::StringType::get(), "two\nlines");
  child.register_buffer("b", torch::zeros({1}));
  child.define("def forward(self, x):\n    return x + self.b\n");
  module.register_module("child", child);
  for (const bool values : {false, true}) {
    const std::string text = module.dump_to_str(false, values, !values);
    // LibTorch prints the addresses of objects.
    c.text(values ? "attributes" : "parameters", std::regex_replace(text, std::regex(" at 0x[0-9a-f]+"), ""));
  }
}
