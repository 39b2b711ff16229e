// random_calls_LIBRARY SEED FIRST LAST: makes the calls numbered FIRST to LAST - 1 and prints a line of each, in four
// columns: number, call, arguments, and what came of it (values, gradients or the error). compare.py compares the lines
// of two libraries.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "calls.h"
#include "inputs.h"

namespace random_calls {

std::vector<Call>& calls() {
  static std::vector<Call> all;
  return all;
}

namespace {

constexpr int64_t kShown = 24;  // elements; of more their sum

void show(std::ostream& out, const Tensor& t) {
  if (!t.defined()) {
    out << " undefined";
    return;
  }
  out << ' ' << t.dtype() << '[';
  for (const int64_t size : t.sizes()) out << size << ',';
  out << ']';
  Tensor flat = t.detach();
  if (flat.is_complex()) flat = torch::view_as_real(flat.resolve_conj());
  flat = flat.to(torch::kDouble).contiguous().view(-1);
  for (int64_t i = 0; i < std::min(flat.numel(), kShown); ++i) out << ' ' << flat[i].item<double>();
  if (flat.numel() > kShown) out << ' ' << flat.sum().item<double>();
}

/// The gradients of the squared results' sum.
void show_gradients(std::ostream& out, const Tensors& results, const Arguments& a, int operands) {
  Tensor loss = torch::zeros({}, torch::kDouble);
  for (const Tensor& t : results) {
    if (!t.defined() || !t.requires_grad()) continue;
    const Tensor real = t.is_complex() ? torch::real(t) : t;
    loss = loss + (real * real).sum();
  }
  if (!loss.requires_grad()) return;
  out << " gradients";
  loss.backward();
  if (a.x.requires_grad()) show(out, a.x.grad());
  if (operands == 2 && a.y.requires_grad()) show(out, a.y.grad());
}

void describe(std::ostream& out, const Tensor& t) { out << ' ' << t.scalar_type() << t.sizes() << t.strides(); }

std::string made(const Call& call, uint64_t seed) {
  Random random(seed);
  const Arguments a = random_arguments(random);
  std::ostringstream out;
  describe(out, a.x);
  if (call.operands == 2) describe(out, a.y);
  const Parameters& p = a.p;
  out << " dim " << p.dim << ' ' << p.other_dim << " any " << p.any << " count " << p.count << " norm " << p.norm
      << " flags " << p.keepdim << p.flag << '\t';
  try {
    const Tensors results = call.function(a.x, a.y, p);
    for (const Tensor& t : results) show(out, t);
    show_gradients(out, results, a, call.operands);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    out << " error: " << text.substr(0, text.find('\n'));
  }
  return out.str();
}

}  // namespace
}  // namespace random_calls

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " SEED FIRST LAST\n";
    return 2;
  }
  torch::set_num_threads(1);
  const auto seed = std::strtoull(argv[1], nullptr, 10);
  auto& calls = random_calls::calls();
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  for (int64_t i = std::atoll(argv[2]); i < std::atoll(argv[3]); ++i) {
    const auto& call = calls[i % calls.size()];
    std::cout << i << '\t' << call.text << '\t' << random_calls::made(call, seed * 1000003 + i * 7919) << std::endl;
  }
}
