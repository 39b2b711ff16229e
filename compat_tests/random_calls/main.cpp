// random_calls_LIBRARY SEED FIRST LAST [TEXT]: makes the calls numbered FIRST to LAST - 1 (of those whose name has
// TEXT) and prints a line of each, in four columns: number, call, arguments, and what came of it (values, gradients or
// the error). compare.py compares the lines of two libraries.
#include <ATen/autocast_mode.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "calls.h"

namespace random_calls {

std::vector<Call>& calls() {
  static std::vector<Call> all;
  return all;
}

namespace {

/// So many elements are shown, of more their sums. $SHOWN: another number, to see what differs.
int64_t most_shown() {
  static const char* const wanted = std::getenv("SHOWN");
  return wanted ? std::atoll(wanted) : 24;
}

/// Of many elements: how many are no numbers or infinite, the sum of the others and one in which each counts by its
/// place, and the last ones.
void show_sums(std::ostream& out, const Tensor& flat) {
  const double* x = flat.const_data_ptr<double>();
  int64_t wild = 0;
  double sum = 0, placed = 0;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    if (!std::isfinite(x[i])) {
      ++wild;
      continue;
    }
    sum += x[i];
    placed += x[i] * static_cast<double>(i * 7919 % 101 - 50) / 50;
  }
  out << ' ' << wild << ' ' << sum << ' ' << placed;
  for (int64_t i = std::max(most_shown(), flat.numel() - 4); i < flat.numel(); ++i) out << ' ' << x[i];
}

void show(std::ostream& out, const Tensor& t) {
  if (!t.defined()) {
    out << " undefined";
    return;
  }
  out << ' ' << t.dtype() << '[';
  for (const int64_t size : t.sizes()) out << size << ',';
  out << ']';
  Tensor flat = t.detach().cpu();
  if (flat.is_complex()) flat = torch::view_as_real(flat.resolve_conj());
  flat = flat.to(torch::kDouble).contiguous().view(-1);
  for (int64_t i = 0; i < std::min(flat.numel(), most_shown()); ++i) out << ' ' << flat[i].item<double>();
  if (flat.numel() > most_shown()) show_sums(out, flat);
}

/// The order of the elements in memory; of a dimension of one element any stride will do.
void show_strides(std::ostream& out, const Tensor& t) {
  if (!t.defined() || t.numel() == 0) return;
  out << " strides(";
  for (int64_t d = 0; d < t.dim(); ++d) out << (t.size(d) == 1 ? 0 : t.stride(d)) << ',';
  out << ')';
}

/// The sum of the squares of what has a gradient, of imaginary parts twice.
Tensor loss_of(const Tensors& results) {
  Tensor loss = torch::zeros({}, torch::kDouble);
  for (const Tensor& t : results) {
    if (!t.defined() || !t.requires_grad()) continue;
    const Tensor real = t.is_complex() ? torch::real(t) : t;
    loss = loss + real.square().sum();
    if (t.is_complex()) loss = loss + torch::imag(t).square().sum() * 2;
  }
  return loss;
}

void show_gradients(std::ostream& out, const Tensors& results, const std::vector<Tensor>& leaves, bool second) {
  const Tensor loss = loss_of(results);
  if (!loss.requires_grad()) return;
  out << " gradients";
  if (!second) {
    loss.backward();
    for (const Tensor& t : leaves) show(out, t.grad());
    return;
  }
  const Tensors first = torch::autograd::grad({loss}, leaves, {}, true, true, true);
  for (const Tensor& t : first) show(out, t);
  const Tensor again = loss_of(first);
  if (!again.requires_grad()) return;
  out << " second";
  for (const Tensor& t : torch::autograd::grad({again}, leaves, {}, false, false, true)) show(out, t);
}

const char* kind_of(const std::exception& error) {
  if (dynamic_cast<const c10::IndexError*>(&error)) return "IndexError";
  if (dynamic_cast<const c10::ValueError*>(&error)) return "ValueError";
  if (dynamic_cast<const c10::TypeError*>(&error)) return "TypeError";
  if (dynamic_cast<const c10::NotImplementedError*>(&error)) return "NotImplementedError";
  if (dynamic_cast<const c10::LinAlgError*>(&error)) return "LinAlgError";
  if (dynamic_cast<const c10::Error*>(&error)) return "Error";
  return "std::exception";
}

/// What an error says: its first line, or where that speaks of a script, its last.
std::string line_of(const std::string& text) {
  std::istringstream lines(text);
  std::string first, line, last;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (first.empty()) first = line;
    last = line;
  }
  return first.find("TorchScript interpreter") == std::string::npos ? first : last;
}

/// Autocast of the CPU for as long as this is there.
class Autocast {
 public:
  explicit Autocast(bool enabled) {
    at::autocast::set_autocast_enabled(torch::kCPU, enabled);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    at::autocast::decrement_nesting();
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(torch::kCPU, false);
  }
};

/// Of more than 6 GiB both libraries say that there is no memory. A device's addresses are not counted.
void limit_memory() {
  torch::ones({1}).add_(1);
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{6} << 30);
  const rlimit memory{most, most};
  setrlimit(RLIMIT_AS, &memory);
}

std::string made(const Call& call, uint64_t seed) {
  Inputs in(seed);
  torch::manual_seed(seed);
  const Arguments a = call.operands > 0 ? in.any(call.operands) : Arguments();
  std::ostringstream out;
  try {
    Tensors results;
    {
      const Autocast autocast(in.autocast);
      torch::set_num_threads(in.large && in.one_of(2) ? 2 : 1);
      results = call.function(a.x, a.y, a.p, in);
    }
    for (const Tensor& t : results) {
      show(out, t);
      show_strides(out, t);
    }
    show_gradients(out, results, in.leaves(), in.second_gradients);
  } catch (const std::exception& error) {
    out << " error: " << kind_of(error) << ": " << line_of(error.what());
  }
  return in.description() + '\t' + out.str();
}

}  // namespace
}  // namespace random_calls

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: " << argv[0] << " SEED FIRST LAST [TEXT]\n";
    return 2;
  }
  random_calls::limit_memory();
  const auto seed = std::strtoull(argv[1], nullptr, 10);
  const std::string wanted = argc == 5 ? argv[4] : "";
  std::vector<random_calls::Call> calls;
  for (const auto& call : random_calls::calls())
    if (call.text.find(wanted) != std::string::npos) calls.push_back(call);
  if (calls.empty()) {
    std::cerr << "no call has " << wanted << " in its name\n";
    return 2;
  }
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  for (int64_t i = std::atoll(argv[2]); i < std::atoll(argv[3]); ++i) {
    const auto& call = calls[i % calls.size()];
    const std::string made = random_calls::made(call, seed * 1000003 + i * 7919);  // which may print itself
    std::cout << i << '\t' << call.text << '\t' << made << std::endl;
  }
}
