#include <halfbridge/distributed/cost_model.h>
#include <halfbridge/error.h>

#include <algorithm>
#include <cmath>

namespace hb::distributed {

double ring_seconds(const Link& link, int ranks, double bytes) {
  const double n = ranks;
  return 2 * (n - 1) * (link.latency + bytes / n / link.bandwidth);
}

double tree_seconds(const Link& link, int ranks, double bytes) {
  return 2 * std::ceil(std::log2(ranks)) * (link.latency + bytes / link.bandwidth);
}

double allreduce_seconds(const Link& link, int ranks, double bytes) {
  if (ranks <= 1) return 0;
  return std::min(ring_seconds(link, ranks, bytes), tree_seconds(link, ranks, bytes));
}

double two_level_seconds(const Link& inside, const Link& between, int per_host, int hosts, double bytes) {
  // Halves of the first level: a reduction before, a broadcast after.
  return allreduce_seconds(inside, per_host, bytes) + allreduce_seconds(between, hosts, bytes);
}

// The line through the smallest and the largest size: between them sums fit into caches, and are faster than it says.
Link fit_link(const std::vector<std::pair<double, double>>& measured, int ranks) {
  if (ranks < 2) detail::fail<ValueError>("[fit_link] expected 2 ranks or more, got ", ranks);
  const auto [least, most] = std::minmax_element(measured.begin(), measured.end());
  if (measured.empty() || !(least->first < most->first))
    detail::fail<ValueError>("[fit_link] expected times of two sizes or more, got ", measured.size());
  const double b = std::max((most->second - least->second) / (most->first - least->first), 1e-15);
  const double a = std::max(least->second - b * least->first, 1e-9);
  // The law of a ring, backwards.
  const double n = ranks;
  return {a / (2 * (n - 1)), 2 * (n - 1) / n / b};
}

namespace {

// What is not hidden behind the backward pass.
double exposed(const StepCost& cost, double all, double last) {
  const double beside = all - last;
  return last + std::max(0.0, beside - cost.compute * cost.backward_share);
}

double last_bucket(const StepCost& cost) { return std::min(cost.bucket_bytes, cost.gradient_bytes); }

double compute_of(const StepCost& cost, int ranks_of_a_host) {
  return cost.compute * (cost.cores > 0 ? std::max(1.0, static_cast<double>(ranks_of_a_host) / cost.cores) : 1.0);
}

}  // namespace

double predicted_step(const StepCost& cost, const Link& link, int ranks) {
  if (ranks <= 1) return cost.compute;
  return compute_of(cost, ranks) + exposed(cost, allreduce_seconds(link, ranks, cost.gradient_bytes),
                                           allreduce_seconds(link, ranks, last_bucket(cost)));
}

double predicted_step(const StepCost& cost, const Link& inside, const Link& between, int per_host, int hosts) {
  if (hosts <= 1) return predicted_step(cost, inside, per_host);
  return compute_of(cost, per_host) + exposed(cost,
                                              two_level_seconds(inside, between, per_host, hosts, cost.gradient_bytes),
                                              two_level_seconds(inside, between, per_host, hosts, last_bucket(cost)));
}

}  // namespace hb::distributed
