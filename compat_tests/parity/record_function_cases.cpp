// Callbacks around functions, steps of the backward pass and ranges of a program's own.
#include <ATen/ThreadLocalState.h>
#include <ATen/record_function.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "parity/bad.h"

using torch::Tensor;

namespace {

struct Seen {
  std::mutex mutex;
  std::vector<std::string> begun, ended;
  std::map<std::string, std::string> inputs, outputs;
};
Seen& seen() {
  static Seen only;
  return only;
}

struct Context : at::ObserverContext {
  explicit Context(std::string n) : name(std::move(n)) {}
  std::string name;
};

std::string shapes(c10::ArrayRef<const c10::IValue> values) {
  std::string text;
  for (const c10::IValue& v : values)
    if (v.isTensor()) text += c10::str(v.toTensor().sizes());
  return text;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
  const std::lock_guard<std::mutex> lock(seen().mutex);
  seen().begun.push_back(fn.name());
  seen().inputs[fn.name()] = shapes(fn.inputs());
  return std::make_unique<Context>(fn.name());
}
void end(const at::RecordFunction& fn, at::ObserverContext* context) {
  const std::lock_guard<std::mutex> lock(seen().mutex);
  seen().ended.push_back(static_cast<Context*>(context)->name);
  std::string text;
  for (const c10::IValue& v : fn.outputs())
    if (v.isTensor()) text += c10::str(v.toTensor().sizes());
  seen().outputs[fn.name()] = text;
}
at::RecordFunctionCallback callback() { return at::RecordFunctionCallback(&begin, &end).needsInputs(true); }

void forget() {
  seen().begun.clear(), seen().ended.clear();
  seen().inputs.clear(), seen().outputs.clear();
}
// Those of the names that were seen, in order and with repetitions: LibTorch sees the parts of functions, too.
std::string in_order(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  std::string text;
  for (const std::string& name : names)
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) text += name + " ";
  return text;
}

}  // namespace

PARITY_CASE(record_function, functions) {
  forget();
  const Tensor x = c.randn({2, 3}), y = c.randn({2, 3});
  const auto handle = at::addThreadLocalCallback(callback().needsOutputs(true));
  c.value("has", at::hasThreadLocalCallbacks() && at::hasCallbacks() && !at::hasGlobalCallbacks());
  Tensor z = torch::sigmoid(x * y);
  z.add_(y);
  torch::mm(z, y.t());
  at::removeCallback(handle);
  c.value("has none", at::hasThreadLocalCallbacks());
  torch::sigmoid(x);
  const std::vector<std::string> wanted = {"aten::mul", "aten::sigmoid", "aten::add_", "aten::mm"};
  c.text("begun", in_order(seen().begun, wanted));
  c.text("ended", in_order(seen().ended, wanted));
  c.text("inputs of mul", seen().inputs["aten::mul"]);
  c.text("inputs of mm", seen().inputs["aten::mm"]);
  c.text("outputs of mm", seen().outputs["aten::mm"]);
}

PARITY_CASE(record_function, backward_pass) {
  forget();
  const Tensor x = c.leaf({2, 3});
  const Tensor loss = x.sigmoid().mul(2).sum();
  const auto all = at::addThreadLocalCallback(callback());
  loss.backward();
  at::removeCallback(all);
  c.text("nodes",
         in_order(seen().begun, {"SumBackward0", "MulBackward0", "SigmoidBackward0", "torch::autograd::AccumulateGrad",
                                 "autograd::engine::evaluate_function: SumBackward0",
                                 "autograd::engine::evaluate_function: MulBackward0",
                                 "autograd::engine::evaluate_function: SigmoidBackward0",
                                 "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"}));
  c.text("gradient of sigmoid", seen().inputs["SigmoidBackward0"]);
  forget();
  const auto steps = at::addThreadLocalCallback(callback().scopes({at::RecordScope::BACKWARD_FUNCTION}));
  x.exp().sum().backward();
  at::removeCallback(steps);
  c.text("steps alone", in_order(seen().begun, seen().begun));
}

// What a program calls itself. LibTorch also sees what these are made of.
PARITY_CASE(record_function, views_copies_and_factories) {
  forget();
  const Tensor x = c.randn({4, 3}), y = c.randn({4, 3});
  const auto handle = at::addThreadLocalCallback(callback().needsOutputs(true));
  torch::ones({2, 5});
  torch::zeros_like(x);
  torch::arange(3);
  torch::rand({7});
  x.unsqueeze(0).squeeze();
  x.flatten();
  x.permute({1, 0});
  x.narrow(0, 1, 2);
  x.unbind(1);
  torch::empty({4, 3}).copy_(y);
  x.clone();
  x.to(torch::kDouble);
  x.detach();
  x.chunk(2);
  at::removeCallback(handle);
  const std::vector<std::string> wanted = {"aten::ones",    "aten::zeros_like", "aten::arange",  "aten::rand",
                                           "aten::squeeze", "aten::flatten",    "aten::permute", "aten::narrow",
                                           "aten::copy_",   "aten::clone",      "aten::unbind",  "aten::unsqueeze",
                                           "aten::chunk",   "aten::to"};
  std::set<std::string> names(seen().begun.begin(), seen().begun.end());
  for (const std::string& name : wanted) c.value(name, names.count(name) == 1);
  c.value("aten::detach", names.count("aten::detach") == 1);
  c.text("outputs of ones", seen().outputs["aten::ones"]);
  c.text("inputs of unsqueeze", seen().inputs["aten::unsqueeze"]);
  c.text("outputs of unsqueeze", seen().outputs["aten::unsqueeze"]);
  c.text("inputs of copy_", seen().inputs["aten::copy_"]);
  c.text("outputs of flatten", seen().outputs["aten::flatten"]);
}

// Profilers join a function to its step of the backward pass by this number.
PARITY_CASE(record_function, sequence_numbers) {
  static std::map<std::string, int64_t> numbers;
  numbers.clear();
  const auto note = [](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
    if (fn.seqNr() >= 0) numbers[fn.name()] = fn.seqNr();
    return nullptr;
  };
  const Tensor x = c.leaf({2, 3});
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(note));
  x.sigmoid().sum().backward();
  c.value("sigmoid", numbers.at("aten::sigmoid") == numbers.at("SigmoidBackward0"));
  c.value("sum", numbers.at("aten::sum") == numbers.at("SumBackward0"));
  c.value("in turn", numbers.at("aten::sigmoid") < numbers.at("aten::sum"));
  numbers.clear();
  torch::ones({2});
  const torch::NoGradGuard none;
  x.exp();
  c.value("no gradient", static_cast<int64_t>(numbers.count("aten::exp") + numbers.count("aten::ones")));
  at::removeCallback(handle);
}

PARITY_CASE(record_function, ranges) {
  forget();
  const Tensor x = c.randn({4});
  const auto handle = at::addThreadLocalCallback(callback().scopes({at::RecordScope::USER_SCOPE}).needsIds(true));
  {
    RECORD_USER_SCOPE("outer");
    c.value("active", guard.isActive());
    c.value("id", guard.handle() != 0);
    c.value("scope", static_cast<int64_t>(guard.scope()));
    x.exp();
    {
      RECORD_USER_SCOPE_WITH_INPUTS("inner", std::vector<c10::IValue>({x, 3}));
      c.value("inputs", static_cast<int64_t>(guard.num_inputs()));
    }
    { RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::FUNCTION, "not seen", std::vector<c10::IValue>()); }
  }
  {
    at::RecordFunction range(at::RecordScope::USER_SCOPE);
    range.before("by hand", 7);
    c.value("sequence number", range.seqNr());
    c.text("name", range.name());
    range.end();
    c.value("after the end", range.isActive());
  }
  {
    at::DisableRecordFunctionGuard off;
    c.value("enabled", at::isRecordFunctionEnabled());
    RECORD_USER_SCOPE("disabled");
    c.value("active when disabled", guard.isActive());
  }
  c.value("enabled again", at::isRecordFunctionEnabled());
  at::disableCallback(handle);
  { RECORD_USER_SCOPE("switched off"); }
  at::reenableCallback(handle);
  { RECORD_USER_SCOPE("switched on"); }
  at::removeCallback(handle);
  { RECORD_USER_SCOPE("removed"); }
  c.text("begun", in_order(seen().begun, seen().begun));
  c.text("ended", in_order(seen().ended, seen().ended));
  c.text("inputs of inner", seen().inputs["inner"]);
}

PARITY_CASE(record_function, threads) {
  forget();
  const Tensor x = c.randn({2, 5});
  const auto handle = at::addGlobalCallback(callback());
  c.value("has", at::hasGlobalCallbacks());
  std::thread([&] { x.exp(); }).join();
  x.log();
  at::removeCallback(handle);
  std::thread([&] { x.exp(); }).join();
  c.text("of all threads", in_order(seen().begun, {"aten::exp", "aten::log"}));
  c.text("inputs", seen().inputs["aten::exp"]);
  forget();
  const auto own = at::addThreadLocalCallback(callback());
  std::thread([&] { x.exp(); }).join();
  std::thread([&, state = at::ThreadLocalState()] {
    const at::ThreadLocalStateGuard guard(state);
    x.tanh();
  }).join();
  x.log();
  at::removeCallback(own);
  c.text("of this thread", in_order(seen().begun, {"aten::exp", "aten::tanh", "aten::log"}));
}

PARITY_CASE(record_function, callbacks) {
  forget();
  const Tensor x = c.randn({3});
  const auto never = at::addThreadLocalCallback(callback().samplingProb(0));
  x.exp();
  at::removeCallback(never);
  c.value("never", static_cast<int64_t>(seen().begun.size()));
  const auto throws = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { throw std::runtime_error("of mine"); }));
  c.out("what a callback throws is not the program's", x.exp());
  at::removeCallback(throws);
  at::addThreadLocalCallback(callback());
  at::addGlobalCallback(callback());
  c.value("both", at::hasThreadLocalCallbacks() && at::hasGlobalCallbacks());
  at::clearCallbacks();
  c.value("cleared", at::hasCallbacks());
  SAYS("Invalid sampling probability", callback().samplingProb(2));
}
