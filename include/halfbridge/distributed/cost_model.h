#pragma once
// How long training steps take on several ranks, from what a link between two of them costs.

#include <cstdint>
#include <utility>
#include <vector>

#include <halfbridge/macros.h>

namespace hb::distributed {

/// A message of n bytes takes latency + n / bandwidth.
struct HB_API Link {
  double latency = 0;    // seconds
  double bandwidth = 1;  // bytes per second
};

// The sum of `bytes` on all ranks, in seconds.
/// A ring: 2 (N - 1) messages of bytes / N each. Best for large messages.
HB_API double ring_seconds(const Link& link, int ranks, double bytes);
/// A tree up and one down: 2 log2(N) messages of all bytes. Best for small ones.
HB_API double tree_seconds(const Link& link, int ranks, double bytes);
/// The faster of the two.
HB_API double allreduce_seconds(const Link& link, int ranks, double bytes);
/// Ranks of a host among themselves, then one of each host, then back.
HB_API double two_level_seconds(const Link& inside, const Link& between, int per_host, int hosts, double bytes);

/// The link that explains the smallest and the largest of measured sums: pairs of bytes and seconds, measured on
/// `ranks` ranks. Throws ValueError for fewer than two sizes and for one rank.
HB_API Link fit_link(const std::vector<std::pair<double, double>>& measured, int ranks);

struct HB_API StepCost {
  double compute = 0;           // seconds of a step of one rank alone
  double backward_share = 0.6;  // of them, in the backward pass, beside which gradients travel
  double gradient_bytes = 0;
  double bucket_bytes = 25 << 20;
  int cores = 0;  // of a host; ranks beyond them wait for a core. 0: as many as needed
};
/// Seconds of a step on `ranks` ranks of one host with the same batch per rank. The last bucket sets out when the
/// backward pass has ended; the others travel beside it.
HB_API double predicted_step(const StepCost& cost, const Link& link, int ranks);
/// The same on several hosts, by two levels.
HB_API double predicted_step(const StepCost& cost, const Link& inside, const Link& between, int per_host, int hosts);

}  // namespace hb::distributed
