#include "compare_tensors.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>

#include <halfbridge/diff/metrics.h>
#include <halfbridge/error.h>
#include <halfbridge/threads.h>

#include "elements.h"

namespace hb::layer_diff {
namespace {

constexpr int64_t kPart = 1 << 18;  // elements of one piece of work

// Calls work(i) for 0 to n - 1 on all threads. An exception of one reaches the caller.
template <class F>
void on_all_threads(size_t n, const F& work) {
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel for schedule(dynamic) num_threads(get_num_threads())
  for (size_t i = 0; i < n; ++i) {
    try {
      work(i);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

struct Part {
  TensorDiff* pair;
  int64_t first, last;
  ErrorSums sums;
};

std::vector<Part> split(const std::vector<TensorDiff*>& pairs) {
  std::vector<Part> parts;
  for (TensorDiff* pair : pairs) {
    if (!pair->ref || !pair->test || !pair->problem.empty() || pair->ref->file < 0 || pair->test->file < 0) continue;
    const int64_t numel = pair->ref->numel();
    for (int64_t first = 0; first == 0 || first < numel; first += kPart) {
      parts.push_back({pair, first, std::min(first + kPart, numel), {}});
    }
  }
  return parts;
}

// Statistics that differ prove a difference; equal ones prove nothing.
bool statistics_agree(const Statistics& ref, const Statistics& test, const Tolerance& tolerance) {
  const auto near = [&](double r, double t) {
    return std::fabs(t - r) <= tolerance.atol + tolerance.rtol * std::fabs(r);
  };
  return near(ref.min, test.min) && near(ref.max, test.max) && near(ref.mean, test.mean) && near(ref.std, test.std) &&
         std::fabs(test.l2 - ref.l2) <= (tolerance.atol + tolerance.rtol) * std::max(1.0, ref.l2) &&
         ref.nan == test.nan && ref.inf == test.inf;
}

void compare_statistics(TensorDiff& pair) {
  if (!pair.ref || !pair.test || !pair.problem.empty() || (pair.ref->file >= 0 && pair.test->file >= 0)) return;
  if (!pair.ref->statistics || !pair.test->statistics) {
    pair.note = std::string("the ") + (pair.ref->file < 0 ? "reference" : "test") +
                " has statistics alone and the other side has none";
    return;
  }
  pair.metrics.numel = pair.ref->numel();
  pair.metrics.nan_ref = pair.ref->statistics->nan;
  pair.metrics.nan_test = pair.test->statistics->nan;
  pair.metrics.inf_ref = pair.ref->statistics->inf;
  pair.metrics.inf_test = pair.test->statistics->inf;
  pair.metrics.pass = statistics_agree(*pair.ref->statistics, *pair.test->statistics, pair.tolerance);
  pair.note = pair.metrics.pass ? "statistics alone agree" : "statistics differ";
}

}  // namespace

bool same_layout(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const auto squeezed = [](const std::vector<int64_t>& shape) {
    std::vector<int64_t> result;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](int64_t size) { return size != 1; });
    return result;
  };
  // Whether merging neighbours of `fine` gives `coarse`.
  const auto merges = [](const std::vector<int64_t>& fine, const std::vector<int64_t>& coarse) {
    size_t i = 0;
    for (int64_t size : coarse) {
      int64_t product = 1;
      while (i < fine.size() && product < size && !__builtin_mul_overflow(product, fine[i], &product)) ++i;
      if (product != size) return false;
    }
    return i == fine.size();
  };
  const std::vector<int64_t> x = squeezed(a), y = squeezed(b);
  return x == y || merges(x, y) || merges(y, x);
}

void compare_tensors(const Trace& ref, const Trace& test, const std::vector<TensorDiff*>& pairs, bool all_histograms) {
  for (TensorDiff* pair : pairs) compare_statistics(*pair);
  std::vector<Part> parts = split(pairs);
  on_all_threads(parts.size(), [&](size_t i) {
    Part& part = parts[i];
    part.sums = sums_of(elements_of(ref, *part.pair->ref), elements_of(test, *part.pair->test), part.first, part.last,
                        part.pair->tolerance);
  });
  std::vector<TensorDiff*> pictured;
  for (size_t i = 0; i < parts.size();) {
    TensorDiff& pair = *parts[i].pair;
    ErrorSums sums;
    for (; i < parts.size() && parts[i].pair == &pair; ++i) sums.add(parts[i].sums);
    pair.metrics = sums.metrics(pair.ref->shape);
    pair.compared = true;
    if ((all_histograms || !pair.metrics.pass) && pair.metrics.numel > 0) pictured.push_back(&pair);
  }
  on_all_threads(pictured.size(), [&](size_t i) {
    TensorDiff& pair = *pictured[i];
    const Elements r = elements_of(ref, *pair.ref), t = elements_of(test, *pair.test);
    pair.histogram = histogram_of(r, t);
    if (!pair.metrics.worst.empty()) pair.heat_map = heat_map_of(r, t, pair.metrics.worst);
  });
}

Metrics metrics_of(const Tensor& ref, const Tensor& test, const Tolerance& tolerance) {
  HB_CHECK(ref.numel() == test.numel(), "[metrics_of] expected tensors of one number of elements, got ", ref.numel(),
           " and ", test.numel());
  const auto elements = [](const Tensor& tensor) {
    const IntArrayRef sizes = tensor.sizes();
    const auto size = static_cast<int64_t>(element_size(tensor.scalar_type()));
    const auto* data = static_cast<const char*>(tensor.data_ptr());
    return Elements{tensor.scalar_type(), {sizes.begin(), sizes.end()}, [=](int64_t first, int64_t count, char* bytes) {
                      std::memcpy(bytes, data + first * size, static_cast<size_t>(count * size));
                    }};
  };
  const Tensor r = ref.detach().contiguous(), t = test.detach().contiguous();
  const Elements ref_elements = elements(r), test_elements = elements(t);
  return sums_of(ref_elements, test_elements, 0, r.numel(), tolerance).metrics(ref_elements.shape);
}

}  // namespace hb::layer_diff
