// Modules, their containers and the library's small classes used wrongly: what both builds say.
#include "parity/bad.h"

#include <memory>
#include <string>
#include <vector>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

struct TwoInputs : nn::Module {
  Tensor forward(Tensor x, int64_t n) { return x + n; }
};

struct Defaults : nn::Module {
  Tensor forward(Tensor x, int64_t n = 2, double y = 3) { return x * n + y; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(int64_t(2))}, {2, nn::AnyValue(3.0)})
};

struct Undeclared : nn::Module {
  Tensor forward(Tensor x, int64_t n = 2) { return x * n; }
};

struct Plain : nn::Module {};

[[gnu::noinline]] nn::Linear no_layer() { return nullptr; }  // a compiler that sees the null warns

// A module whose reset() forgets what its constructor registered.
template <int kWhat>
struct Forgetful : nn::Cloneable<Forgetful<kWhat>> {
  Forgetful() {
    if (kWhat == 0) this->register_parameter("p", torch::ones({2}));
    if (kWhat == 1) this->register_buffer("b", torch::ones({2}));
    if (kWhat == 2) this->register_module("m", nn::Linear(1, 1));
  }
  void reset() override {}
};

}  // namespace

PARITY_CASE(bad_containers, module) {
  nn::Linear net(2, 2);
  const Tensor x = c.randn({2});
  auto plain = std::make_shared<Plain>();
  SAYS("(anonymous namespace)::Plain. Subclass torch::nn::Cloneable<", plain->clone());
  SAYS("clone() has not been implemented for ", plain->clone(std::nullopt));
  SAYS("The cloned module does not have the same number of parameters as the original module", Forgetful<0>().clone());
  SAYS("The cloned module does not have the same number of buffers as the original module after",
       Forgetful<1>().clone());
  SAYS("The cloned module does not have the same number of child modules as the original module",
       Forgetful<2>().clone());
  SAYS("Parameter name must not be empty", plain->register_parameter("", x));
  SAYS("Parameter name must not contain a dot (got 'a.b')", plain->register_parameter("a.b", x));
  SAYS("Buffer name must not be empty", plain->register_buffer("", x));
  SAYS("Buffer name must not contain a dot (got 'a.b')", plain->register_buffer("a.b", x));
  SAYS("Submodule name must not be empty", plain->register_module("", nn::Linear(1, 1)));
  SAYS("Submodule name must not contain a dot (got 'a.b')", plain->register_module("a.b", nn::Linear(1, 1)));
  SAYS("Parameter 'weight' already defined", net->register_parameter("weight", x));
  SAYS("Submodule 'm' already defined", plain->register_module("m", nn::Linear(1, 1));
       plain->register_module("m", nn::Linear(1, 1)));
  SAYS("No Module with name `none` is registered", plain->unregister_module("none"));
  SAYS("Submodule 'none' is not defined", plain->replace_module("none", nn::Linear(1, 1)));
  SAYS("Key 'none' is not defined", net->named_parameters()["none"]);
  SAYS("Key 'none' is not defined", net->named_buffers()["none"]);
  SAYS("Key 'none' is not defined", net->named_modules()["none"]);
  SAYS("Submodule 'none' is not defined", net->named_children()["none"]);
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       plain->register_parameter("whole", torch::ones({2}, torch::kLong), true));
  SAYS("Accessing empty ModuleHolder", no_layer()->forward(x));
  SAYS("Accessing empty ModuleHolder", no_layer().get());
  SAYS("It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is", Plain().modules());
  SAYS("It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is",
       Plain().named_modules());
}

PARITY_CASE(bad_containers, any_module) {
  const Tensor x = c.randn({2, 2});
  nn::AnyModule empty, linear(nn::Linear(2, 2)), two(TwoInputs{}), some(Defaults{}), undeclared(Undeclared{});
  SAYS("Cannot call forward() on an empty AnyModule", empty.forward(x));
  SAYS("Cannot call ptr() on an empty AnyModule", empty.ptr());
  SAYS("Cannot call ptr() on an empty AnyModule", empty.ptr<nn::LinearImpl>());
  SAYS("Cannot call ptr() on an empty AnyModule", empty.get<nn::Linear>());
  SAYS("Cannot call type_info() on an empty AnyModule", empty.type_info());
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv2dImpl",
       linear.get<nn::Conv2d>());
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv2dImpl",
       linear.ptr<nn::Conv2dImpl>());
  SAYS("Expected argument #0 to be of type at::Tensor, but received value of type int", linear.forward(5));
  SAYS("torch::nn::LinearImpl's forward() method expects 1 argument(s), but received 0. If", linear.forward());
  SAYS("torch::nn::LinearImpl's forward() method expects 1 argument(s), but received 2", linear.forward(x, x));
  SAYS("Attempted to cast AnyValue to int, but its actual type is at::Tensor", linear.forward<int>(x));
  SAYS("anonymous namespace)::TwoInputs's forward() method expects 2 argument(s), but received 1.", two.forward(x));
  SAYS("Expected argument #1 to be of type long, but received value of type double", two.forward(x, 2.5));
  SAYS("anonymous namespace)::TwoInputs's forward() method expects 2 argument(s), but received 3",
       two.forward(x, int64_t(2), x));
  SAYS("anonymous namespace)::Defaults's forward() method expects at least 1 argument(s) and at", some.forward());
  SAYS("anonymous namespace)::Defaults's forward() method expects at least 1 argument(s) and at",
       some.forward(x, int64_t(1), 2.0, x));
  SAYS("anonymous namespace)::Undeclared's forward() method expects 2 argument(s), but received",
       undeclared.forward(x));
  nn::AnyValue five(5);
  SAYS("Attempted to cast AnyValue to double, but its actual type is int", five.get<double>());
  SAYS("Attempted to cast AnyValue to at::Tensor, but its actual type is int", five.get<Tensor>());
  SAYS("Attempted to cast AnyValue to int, but its actual type is at::Tensor", nn::AnyValue(x).get<int>());
}

PARITY_CASE(bad_containers, sequential) {
  const Tensor x = c.randn({2, 2});
  nn::Sequential empty, one(nn::Linear(2, 2));
  SAYS("Cannot call forward() on an empty Sequential", empty->forward(x));
  SAYS("Expected argument #0 to be of type at::Tensor, but received value of type int", one->forward(5));
  SAYS("torch::nn::LinearImpl's forward() method expects 1 argument(s), but received 2", one->forward(x, x));
  SAYS("The type of the return value is at::Tensor, but you asked for type int", one->forward<int>(x));
  SAYS("Index out of range", one->at<nn::LinearImpl>(1));
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv2dImpl",
       one->at<nn::Conv2dImpl>(0));
  SAYS("Index out of range", one->ptr(1));
  SAYS("Index out of range", one[1]);
  SAYS("Index out of range", one->ptr<nn::LinearImpl>(1));
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv2dImpl",
       one->ptr<nn::Conv2dImpl>(0));
  SAYS("Submodule '0' already defined", one->push_back("0", nn::Linear(1, 1)));
  SAYS("Submodule name must not contain a dot (got 'a.b')", one->push_back("a.b", nn::Linear(1, 1)));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
       nn::Sequential(nn::Linear(2, 3), nn::Linear(2, 3))->forward(x));
}

PARITY_CASE(bad_containers, lists_and_dicts) {
  nn::ModuleList list(nn::Linear(1, 2));
  SAYS("Index out of range", list->at<nn::LinearImpl>(1));
  SAYS("Unable to cast module[0] to torch::nn::Conv2dImpl", list->at<nn::Conv2dImpl>(0));
  SAYS("Index out of range", list->ptr(1));
  SAYS("Index out of range", list->ptr<nn::LinearImpl>(1));
  SAYS("Index out of range", list->insert(3, nn::Linear(1, 1)));
  nn::ModuleDict dict;
  dict->update(torch::OrderedDict<std::string, std::shared_ptr<nn::Module>>{{"lin", nn::Linear(1, 2).ptr()}});
  SAYS("Unable to cast module[lin] to torch::nn::Conv2dImpl", dict->at<nn::Conv2dImpl>("lin"));
  SAYS("Key 'none' is not defined", dict->at<nn::LinearImpl>("none"));
  SAYS("Key 'none' is not defined", dict["none"]);
  SAYS("Key 'none' is not defined", dict->pop("none"));
  nn::ParameterList tensors(c.randn({2}));
  SAYS("Index out of range", tensors->at(1));
  SAYS("Index out of range", tensors[2]);
  nn::ParameterDict named;
  named->insert("w", c.randn({2}));
  SAYS("Parameter 'none' is not defined", named->get("none"));
  SAYS("Parameter 'none' is not defined", named["none"]);
  SAYS("Parameter 'none' is not defined", named->pop("none"));
  SAYS("Parameter name must not contain a dot (got 'a.b')", named->insert("a.b", c.randn({1})));
}

PARITY_CASE(bad_containers, ordered_dict) {
  using Dict = torch::OrderedDict<std::string, int>;
  Dict none, one = {{"a", 1}};
  SAYS("Called front() on an empty OrderedDict", none.front());
  SAYS("Called back() on an empty OrderedDict", none.back());
  SAYS("Key 'b' is not defined", one["b"]);
  SAYS("Index 1 is out of bounds", one[1]);
  SAYS("Key 'a' already defined", one.insert("a", 2));
  SAYS("Key 'b' doesn't exist", one.erase("b"));
  SAYS("Penguin 'Skipper' is not defined", Dict("Penguin")["Skipper"]);
  SAYS("Expected 3 values, but instead got 2", torch::ExpandingArray<3>(std::vector<int64_t>{1, 2}));
  SAYS("Expected 2 values, but instead got 3", torch::ExpandingArray<2>({1, 2, 3}));
  SAYS("Expected 2 values, but instead got 3", torch::ExpandingArrayWithOptionalElem<2>(std::vector<int64_t>{1, 2, 3}));
  SAYS("kBatchMean is not a valid value for reduction",
       torch::enumtype::reduction_get_enum(
           std::variant<torch::enumtype::kNone, torch::enumtype::kMean, torch::enumtype::kSum,
                        torch::enumtype::kBatchMean>(torch::kBatchMean)));
  BAD(at::IntArrayRef({1, 2}).at(2));
  BAD(at::IntArrayRef().front());
  SAYS("device type at start of device string: wrong", torch::Device("wrong"));
  SAYS("device string: 'cuda:x'", torch::Device("cuda:x"));
  SAYS("device string: 'cpu:-1'", torch::Device("cpu:-1"));
  BAD(torch::Device(""));
  BAD(c10::IValue(5).toTensor());
  BAD(c10::IValue("text").toInt());
  BAD(c10::IValue(2.5).toBool());
  BAD(c10::IValue().toDouble());
  BAD(c10::IValue(5).toStringRef());
  BAD(c10::IValue(5).toTensorVector());
  BAD(c10::IValue(true).to<int64_t>());
}
