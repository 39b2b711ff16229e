// Anomaly detection, and small things of c10 that programs print or count with.
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "parity/case.h"

PARITY_CASE(anomaly, nan_in_backward) {
  auto x = c.values({0, 4});
  x.requires_grad_();
  const auto run = [&] { (x * 0).sqrt().mul(0).sum().backward(); };  // 0 * inf in the gradient of sqrt
  run();
  c.out("without", x.grad());
  {
    torch::autograd::DetectAnomalyGuard guard;
    c.value("enabled", torch::autograd::AnomalyMode::is_enabled());
    try {
      run();
      c.fail("backward should have thrown");
    } catch (const c10::Error& e) {
      c.text("message", e.what_without_backtrace());
    }
    auto y = c.leaf({3});
    y.exp().sum().backward();
    c.out("fine", y.grad());
    torch::autograd::DetectAnomalyGuard unchecked(/*check_nan=*/false);
    c.value("checks", torch::autograd::AnomalyMode::should_check_nan());
    run();
  }
  c.value("after", torch::autograd::AnomalyMode::is_enabled());
  run();
}

namespace {
struct Heard : c10::WarningHandler {
  std::vector<std::string> messages;
  void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
};
}  // namespace

// What failed says where the program called it; in a backward pass of a backward pass, what that was part of too.
PARITY_CASE(anomaly, forward_trace) {
  const auto failing = [&](const char* name, const std::function<void()>& f) {
    Heard heard;
    const c10::WarningUtils::WarningHandlerGuard handler(&heard);
    c.throws(name, f);
    c.value(std::string(name) + ".warnings", static_cast<int64_t>(heard.messages.size()));
    for (size_t i = 0; i < heard.messages.size(); ++i) {
      const std::string& m = heard.messages[i];
      c.text(name + std::to_string(i), m.substr(0, m.find('\n', 2)));
      c.check(m.find("frame #0") != std::string::npos, "has a traceback");
    }
  };
  const auto leaf = [&](double value) { return c.values({value, 4}).requires_grad_(); };
  torch::autograd::DetectAnomalyGuard guard;
  failing("nan", [&] { (leaf(0) * 0).sqrt().mul(0).sum().backward(); });
  failing("changed", [&] {
    auto y = (leaf(1) * 2).exp();
    auto z = y * y;
    y.add_(1);
    z.sum().backward();
  });
  failing("induced", [&] {
    auto x = leaf(0);
    auto g = torch::autograd::grad({x.pow(1.5).sum()}, {x}, {}, true, true)[0];
    g.sum().mul(0).backward();
  });
  {
    torch::autograd::DetectAnomalyGuard unchecked(/*check_nan=*/false);
    Heard heard;
    const c10::WarningUtils::WarningHandlerGuard handler(&heard);
    (leaf(0) * 0).sqrt().mul(0).sum().backward();
    c.value("unchecked", static_cast<int64_t>(heard.messages.size()));
  }
  c.value("checks_again", torch::autograd::AnomalyMode::should_check_nan());
}

PARITY_CASE(anomaly, containers_print) {
  std::ostringstream out;
  out << torch::zeros({2, 3}).sizes().vec() << '|' << std::vector<std::string>{"a", "b"} << '|'
      << std::map<int, double>{{1, 2.5}, {3, 4}} << '|' << std::set<int>{3, 1} << '|' << std::make_pair(1, "x") << '|'
      << std::vector<int>(101, 7);
  c.text("printed", out.str());
}

PARITY_CASE(anomaly, parallel_reduce) {
  const auto sum = [](int64_t from, int64_t to, int64_t start) {
    for (int64_t i = from; i < to; ++i) start += i;
    return start;
  };
  c.value("sum", at::parallel_reduce(int64_t{3}, int64_t{1000}, int64_t{16}, int64_t{0}, sum, std::plus<int64_t>()));
  c.value("start once",
          at::parallel_reduce(int64_t{0}, int64_t{10}, int64_t{100}, int64_t{5}, sum, std::plus<int64_t>()));
  c.value("none", at::parallel_reduce(int64_t{3}, int64_t{3}, int64_t{1}, int64_t{-5}, sum, std::plus<int64_t>()));
}

PARITY_CASE(anomaly, for_blob) {
  std::vector<float> data{0, 1, 2, 3, 4, 5, 6, 7};
  int freed = 0;
  {
    auto a = torch::for_blob(data.data(), {2, 3}).options(torch::kFloat).make_tensor();
    auto b = torch::for_blob(data.data(), {2, 2})
                 .strides(at::IntArrayRef({1, 3}))
                 .deleter([&](void*) { ++freed; })
                 .make_tensor();
    auto d = torch::for_blob(data.data(), {2, 2}).storage_offset(3).make_tensor();
    auto e = torch::for_blob(data.data(), {2, 2}).strides(at::IntArrayRef({1, 3})).storage_offset(2).make_tensor();
    c.out("e_values", e.clone());
    c.layout("a", a);
    c.layout("b", b);
    c.layout("d", d);
    c.out("b_values", b.clone());
    c.out("d_values", d.clone());
  }
  c.value("freed", freed);
}

PARITY_CASE(anomaly, context) {
  auto& context = at::globalContext();
  c.value("fill", context.deterministicFillUninitializedMemory());
  torch::manual_seed(4);
  auto generator = context.defaultGenerator(torch::kCPU);
  const auto state = generator.get_state();
  auto x = torch::rand({3});
  generator.set_state(state);
  c.check(torch::equal(x, torch::rand({3})), "the default generator draws again");
  c.out("drawn", x);
}
