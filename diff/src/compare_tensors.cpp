#include "compare_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include <halfbridge/diff/metrics.h>
#include <halfbridge/error.h>

#include "elements.h"
#include "gradient_tolerance.h"
#include "threads.h"

namespace hb::layer_diff {
namespace {

constexpr int64_t kPart = 1 << 18;  // elements of one piece of work

struct Part {
  size_t task;
  int64_t first, last;
  ErrorSums sums;
};

// Pairs that share their bytes on both sides: what one layer returned is what the next was given.
struct Task {
  std::vector<TensorDiff*> pairs;
};

std::vector<Task> tasks_of(const std::vector<TensorDiff*>& pairs) {
  std::map<std::tuple<int, uint64_t, int, uint64_t, int64_t, double, double>, size_t> places;
  std::vector<Task> tasks;
  for (TensorDiff* pair : pairs) {
    if (!pair->ref || !pair->test || !pair->problem.empty() || pair->ref->file < 0 || pair->test->file < 0) continue;
    const Record& r = *pair->ref;
    const Record& t = *pair->test;
    const auto [place, is_new] = places.emplace(
        std::tuple(r.file, r.offset, t.file, t.offset, r.numel(), pair->tolerance.atol, pair->tolerance.rtol),
        tasks.size());
    if (is_new) tasks.emplace_back();
    tasks[place->second].pairs.push_back(pair);
  }
  return tasks;
}

std::vector<Part> split(const std::vector<Task>& tasks) {
  std::vector<Part> parts;
  for (size_t task = 0; task < tasks.size(); ++task) {
    const int64_t numel = tasks[task].pairs.front()->ref->numel();
    for (int64_t first = 0; first == 0 || first < numel; first += kPart) {
      parts.push_back({task, first, std::min(first + kPart, numel), {}});
    }
  }
  return parts;
}

// Whether elements within tolerance could have these statistics. Where they could not, the tensors differ; where they
// could, nothing is proven.
bool statistics_agree(const Statistics& ref, const Statistics& test, const Tolerance& tolerance, int64_t numel) {
  const double root_n = std::sqrt(static_cast<double>(numel)), rms = numel > 0 ? ref.l2 / root_n : 0;
  const auto within = [&](double r, double t, double scale) {
    return std::isnan(r) || std::isnan(t) || std::fabs(t - r) <= tolerance.atol + tolerance.rtol * scale;
  };
  const double largest = std::max(std::fabs(ref.min), std::fabs(ref.max));
  return within(ref.min, test.min, largest) && within(ref.max, test.max, largest) && within(ref.mean, test.mean, rms) &&
         within(ref.std, test.std, rms) && within(rms, numel > 0 ? test.l2 / root_n : 0, rms) && ref.nan == test.nan &&
         ref.inf == test.inf;
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
  pair.metrics.pass =
      statistics_agree(*pair.ref->statistics, *pair.test->statistics, pair.tolerance, pair.ref->numel());
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
  scale_gradient_tolerances(ref, pairs);
  for (TensorDiff* pair : pairs) compare_statistics(*pair);
  const std::vector<Task> tasks = tasks_of(pairs);
  std::vector<Part> parts = split(tasks);
  on_all_threads(parts.size(), [&](size_t i) {
    Part& part = parts[i];
    const TensorDiff& pair = *tasks[part.task].pairs.front();
    part.sums =
        sums_of(elements_of(ref, *pair.ref), elements_of(test, *pair.test), part.first, part.last, pair.tolerance);
  });
  std::vector<ErrorSums> sums(tasks.size());
  for (const Part& part : parts) sums[part.task].add(part.sums);
  on_all_threads(tasks.size(), [&](size_t i) {
    std::optional<Histogram> histogram;
    for (TensorDiff* pair : tasks[i].pairs) {
      pair->metrics = sums[i].metrics(pair->ref->shape);
      pair->compared = true;
      if ((!all_histograms && pair->metrics.pass) || pair->metrics.numel == 0) continue;
      const Elements r = elements_of(ref, *pair->ref), t = elements_of(test, *pair->test);
      if (!histogram) histogram = histogram_of(r, t);
      pair->histogram = histogram;
      if (!pair->metrics.worst.empty()) pair->heat_map = heat_map_of(r, t, pair->metrics.worst);
    }
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
