#include "parity/modules.h"

namespace nn = torch::nn;

namespace {
struct NetImpl : nn::Module {
  NetImpl() : fc1(register_module("fc1", nn::Linear(4, 3))), scale(register_parameter("scale", torch::ones({3}))) {
    counter = register_buffer("counter", torch::zeros({}));
  }
  torch::Tensor forward(torch::Tensor x) {
    counter += 1;
    return fc1(x) * scale;
  }
  nn::Linear fc1;
  torch::Tensor scale, counter;
};
TORCH_MODULE(Net);

struct TwoInputsImpl : nn::Module {
  torch::Tensor forward(torch::Tensor a, int64_t times = 2) { return a * times; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(int64_t(2))})
};
TORCH_MODULE(TwoInputs);

std::string keys_of(const std::vector<std::string>& keys) {
  std::string text;
  for (const auto& k : keys) text += k + " ";
  return text;
}
}  // namespace

PARITY_CASE(module_containers, tree) {
  Net net;
  c.text("text", parity::text_of(net));
  c.text("parameters", keys_of(net->named_parameters().keys()));
  c.text("own_parameters", keys_of(net->named_parameters(false).keys()));
  c.text("buffers", keys_of(net->named_buffers().keys()));
  c.text("modules", keys_of(net->named_modules().keys()));
  c.text("modules_prefix", keys_of(net->named_modules("net").keys()));
  c.text("children", keys_of(net->named_children().keys()));
  c.value("count", static_cast<int64_t>(net->modules().size()));
  std::string visited;
  net->apply([&](const std::string& name, nn::Module& m) {
    visited += name + ":" + std::to_string(m.parameters(false).size()) + " ";
  });
  c.text("applied", visited);
  c.text("as", net->fc1->as<nn::Linear>() ? "linear" : "not");
  c.text("as_other", net->fc1->as<nn::Conv2d>() ? "conv" : "not");
  net->eval();
  c.value("training", net->fc1->is_training());
  net->train();
  c.value("training_again", net->fc1->is_training());
  net->to(torch::kDouble);
  c.out("double", net->fc1->weight);
  auto x = c.randn({2, 4}, torch::kDouble);
  net(x).sum().backward();
  c.out("grad", net->scale.grad());
  net->zero_grad(false);
  c.out("grad_zero", net->scale.grad());
  net->zero_grad();
  c.value("grad_gone", net->scale.grad().defined());
  c.throws("clone", [&] { net->clone(); });
  c.throws("name_with_dot", [&] { net->register_module("a.b", nn::Linear(1, 1)); });
  c.throws("name_twice", [&] { net->register_module("fc1", nn::Linear(1, 1)); });
  c.throws("empty_holder", [] {
    nn::Linear empty = nullptr;
    empty->forward(torch::ones({1}));
  });
  net->replace_module("fc1", nn::Linear(2, 2));
  c.out("replaced", net->named_parameters()["fc1.weight"]);
  net->unregister_module("fc1");
  c.value("left", static_cast<int64_t>(net->parameters().size()));
}

PARITY_CASE(module_containers, sequential) {
  nn::Sequential net(nn::Linear(4, 3), nn::ReLU(), nn::Functional(torch::tanh), nn::Functional(torch::elu, 1, 1, 1));
  parity::module(c, "plain", net, c.leaf({2, 4}));
  nn::Sequential named({{"first", nn::Linear(4, 3)}, {"second", nn::Sigmoid()}});
  named->push_back("third", nn::Linear(3, 2));
  named->push_back(nn::Dropout(0.0));
  c.text("named", parity::text_of(named));
  c.out("named_y", named->forward(c.randn({2, 4})));
  c.value("size", static_cast<int64_t>(named->size()));
  c.out("at", named->at<nn::LinearImpl>(0).weight);
  c.text("ptr", named->ptr(1)->name());
  TwoInputs two;
  nn::Sequential multi(two, nn::ReLU());
  c.out("two", multi->forward(c.randn({3}), int64_t(3)));
  c.out("default", multi->forward(c.randn({3})));
  c.throws("empty", [] { nn::Sequential()->forward(torch::ones({1})); });
  c.throws("at_type", [&] { named->at<nn::Conv2dImpl>(0); });
  c.throws("at_range", [&] { named->at<nn::LinearImpl>(9); });
  c.throws("too_many", [&] { nn::Sequential(nn::Linear(1, 1))->forward(torch::ones({1}), torch::ones({1})); });
}

PARITY_CASE(module_containers, lists) {
  nn::ModuleList list(nn::Linear(2, 3), nn::ReLU());
  list->push_back(nn::Linear(3, 1));
  c.text("list", parity::text_of(list));
  list->insert(1, nn::Tanh());  // LibTorch then loses children of the list: no text after this
  c.value("size", static_cast<int64_t>(list->size()));
  auto x = c.randn({2, 2});
  for (const auto& m : *list) {
    if (auto* fc = m->as<nn::Linear>())
      x = fc->forward(x);
    else if (auto* act = m->as<nn::Tanh>())
      x = act->forward(x);
  }
  c.out("y", x);
  nn::ModuleDict dict;
  dict->update(torch::OrderedDict<std::string, std::shared_ptr<nn::Module>>(
      {{"a", nn::Linear(2, 2).ptr()}, {"b", nn::ReLU().ptr()}}));
  c.text("dict", parity::text_of(dict));
  c.text("keys", keys_of(dict->keys()));
  c.value("contains", dict->contains("a"));
  c.throws("missing", [&] { (*dict)["z"]; });
  nn::ParameterList parameters(torch::ones({2}).requires_grad_(), torch::zeros({1, 2}));
  c.text("parameters", parity::text_of(parameters));
  c.value("learned", parameters[0].requires_grad());
  nn::ParameterDict by_name;
  by_name->insert("w", torch::ones({3}));
  c.text("by_name", parity::text_of(by_name));
}

PARITY_CASE(module_containers, any_module) {
  nn::AnyModule any(nn::Linear(3, 2));
  c.out("y", any.forward(c.randn({2, 3})));
  c.out("weight", any.get<nn::Linear>()->weight);
  c.throws("type", [&] { any.get<nn::Conv1d>(); });
  c.throws("arguments", [&] { any.forward(1); });
  c.throws("empty", [] { nn::AnyModule().forward(torch::ones({1})); });
  nn::AnyValue value(5);
  c.value("value", value.get<int>());
  c.throws("value_type", [&] { value.get<double>(); });
}

PARITY_CASE(module_containers, ordered_dict) {
  torch::OrderedDict<std::string, int> d({{"a", 1}, {"b", 2}});
  d.insert("c", 3);
  c.text("keys", keys_of(d.keys()));
  d.erase("a");
  c.value("b", d["b"]);
  c.value("first", d[0].value());
  c.value("found", d.find("c") != nullptr);
  c.throws("missing", [&] { d["a"]; });
  c.throws("again", [&] { d.insert("b", 1); });
}

PARITY_CASE(module_containers, clipping) {
  auto make = [&] {
    std::vector<torch::Tensor> list{c.leaf({3, 2}), c.leaf({4}), c.leaf({2})};
    for (size_t i = 0; i < 2; ++i) list[i].mutable_grad() = c.randn(list[i].sizes().vec()) * 5;
    return list;
  };
  for (double p : {2.0, 1.0, 0.0, static_cast<double>(INFINITY)}) {
    c.scope("p" + std::to_string(p), [&] {
      auto list = make();
      c.out("norm", torch::full({}, nn::utils::clip_grad_norm_(list, 1.5, p), torch::kFloat));  // computed in float
      c.out("grad", list[0].grad());
    });
  }
  auto list = make();
  nn::utils::clip_grad_value_(list, 0.7);
  c.out("clamped", list[1].grad());
  list[0].mutable_grad().fill_(NAN);
  c.throws("not_finite", [&] { nn::utils::clip_grad_norm_(list, 1.0, 2.0, true); });
  auto vec = nn::utils::parameters_to_vector(list);
  c.out("vector", vec.detach());
  nn::utils::vector_to_parameters(vec.detach() * 2, list);
  c.out("set", list[1].detach());
}

PARITY_CASE(module_containers, copies_of_changed_lists) {
  const auto shared = nn::Linear(2, 2);
  nn::Sequential twice(shared, nn::ReLU(), shared);
  c.value("shared", static_cast<int64_t>(twice->clone()->parameters().size()));
  nn::Sequential list(nn::Linear(4, 3), nn::Linear(3, 2));
  list->register_module("late", nn::Linear(1, 1));
  list->replace_module("0", nn::Linear(nn::LinearOptions(4, 3).bias(false)));
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(list->clone());
  c.value("modules", static_cast<int64_t>(copy->size()));
  c.value("children", static_cast<int64_t>(copy->children().size()));
  c.value("result", copy->forward(torch::ones({1, 4})).sizes() == torch::IntArrayRef({1, 2}));
}
