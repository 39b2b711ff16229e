#include "distributed/two_level/engine.h"

#include <algorithm>
#include <cstring>

#include <halfbridge/ops.h>

#include "distributed/text.h"

namespace hb::distributed::two_level {

namespace {

/// The sum by the number of ranks, where a mean was asked for: integers toward zero, as in one level.
void divide(const Call& call, void* data, size_t count, int ranks) {
  if (call.reduction != RankReduction::mean || call.dtype == kBool || count == 0) return;
  const bool pairs = is_complex_type(call.dtype);
  const ScalarType type = !pairs ? call.dtype : call.dtype == kComplexDouble ? kDouble : kFloat;
  Tensor values = from_blob(data, {static_cast<int64_t>(count) * (pairs ? 2 : 1)}, TensorOptions(type));
  if (is_integral_type(type, false))
    values.div_(Scalar(int64_t{ranks}), "trunc");
  else
    values.div_(Scalar(static_cast<double>(ranks)));
}

}  // namespace

Layout::Layout(const std::vector<std::string>& names, int rank) {
  std::vector<std::string> seen;
  for (size_t r = 0; r < names.size(); ++r) {
    const auto at = std::find(seen.begin(), seen.end(), names[r]);
    const auto h = static_cast<size_t>(at - seen.begin());
    if (at == seen.end()) seen.push_back(names[r]), hosts.emplace_back();
    if (static_cast<int>(r) == rank) host = static_cast<int>(h), place = static_cast<int>(hosts[h].size());
    hosts[h].push_back(static_cast<int>(r));
  }
}

bool Layout::worth_it() const {
  return hosts.size() > 1 &&
         std::any_of(hosts.begin(), hosts.end(), [](const auto& ranks) { return ranks.size() > 1; });
}

bool Layout::even() const {
  return std::all_of(hosts.begin(), hosts.end(), [&](const auto& h) { return h.size() == hosts[0].size(); });
}

TwoLevelEngine::TwoLevelEngine(Layout layout, std::shared_ptr<Engine> inside, std::shared_ptr<Engine> between,
                               std::shared_ptr<Engine> all)
    : Engine(all->rank(), all->size()),
      layout_(std::move(layout)),
      inside_(std::move(inside)),
      between_(std::move(between)),
      all_(std::move(all)) {}

std::vector<int> TwoLevelEngine::ranks_between() const {
  std::vector<int> ranks;
  for (const auto& h : layout_.hosts) ranks.push_back(h[layout_.even() ? static_cast<size_t>(layout_.place) : 0]);
  return ranks;
}

/// A level that fails ends the others, whose ranks would wait for this one; its message counts ranks in its own way.
template <class F>
void TwoLevelEngine::guarded(const std::vector<int>& ranks, const F& step) {
  try {
    step();
  } catch (const DistError& e) {
    const std::string why =
        detail::str(e.what(), " (its ranks 0 to ", ranks.size() - 1, " are ranks ", listed(ranks), " of the group)");
    abort(why);
    throw DistBackendError(why);
  }
}

/// Each rank of a host sums its share of all of the host's values, then with those of the same place on other hosts.
void TwoLevelEngine::sum_shares(const Call& call, unsigned char* data, size_t count) {
  const auto& here = layout_.hosts[static_cast<size_t>(layout_.host)];
  const size_t ranks = here.size(), element = element_size(call.dtype), share = count / ranks, rest = count % ranks;
  std::vector<void*> parts;
  for (size_t r = 0; r < ranks; ++r) parts.push_back(data + r * share * element);
  unsigned char* const own = data + static_cast<size_t>(layout_.place) * share * element;
  unsigned char* const tail = data + ranks * share * element;
  Call part = call;
  part.bytes = share * element;
  guarded(here, [&] {
    inside_->reduce_scatter(part, const_cast<const void* const*>(parts.data()), own, share);
    if (rest) inside_->allreduce(part, tail, rest);
  });
  // The few that are left over are summed by all places alike.
  guarded(ranks_between(), [&] {
    between_->allreduce(part, own, share);
    if (rest) between_->allreduce(part, tail, rest);
  });
  guarded(here, [&] { inside_->allgather(part, own, parts.data(), share * element); });
}

void TwoLevelEngine::sum_at_firsts(const Call& call, void* data, size_t count) {
  const auto& here = layout_.hosts[static_cast<size_t>(layout_.host)];
  Call first = call;
  first.root = 0;
  guarded(here, [&] { inside_->reduce(first, data, count); });
  if (layout_.place == 0) guarded(ranks_between(), [&] { between_->allreduce(first, data, count); });
  guarded(here, [&] { inside_->broadcast(first, data, count * element_size(call.dtype)); });
}

void TwoLevelEngine::allreduce(const Call& call, void* data, size_t count) {
  Call sum = call;
  if (sum.reduction == RankReduction::mean) sum.reduction = RankReduction::sum;
  if (layout_.even())
    sum_shares(sum, static_cast<unsigned char*>(data), count);
  else
    sum_at_firsts(sum, data, count);
  divide(call, data, count, size_);
}

void TwoLevelEngine::reduce(const Call& call, void* data, size_t count) {
  if (rank_ == call.root) return allreduce(call, data, count);
  std::vector<unsigned char> copy(count * element_size(call.dtype) + 1);  // this rank's tensor keeps its values
  if (count) std::memcpy(copy.data(), data, copy.size() - 1);
  allreduce(call, copy.data(), count);
}

/// From the root to one rank of each host, and from there to the others.
void TwoLevelEngine::broadcast(const Call& call, void* data, size_t bytes) {
  if (!layout_.even()) return all_->broadcast(call, data, bytes);
  int host = 0, place = 0;
  for (size_t h = 0; h < layout_.hosts.size(); ++h)
    for (size_t p = 0; p < layout_.hosts[h].size(); ++p)
      if (layout_.hosts[h][p] == call.root) host = static_cast<int>(h), place = static_cast<int>(p);
  Call part = call;
  part.root = host;
  if (layout_.place == place) guarded(ranks_between(), [&] { between_->broadcast(part, data, bytes); });
  part.root = place;
  guarded(layout_.hosts[static_cast<size_t>(layout_.host)], [&] { inside_->broadcast(part, data, bytes); });
}

void TwoLevelEngine::allgather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  all_->allgather(call, in, outs, bytes);
}
void TwoLevelEngine::gather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  all_->gather(call, in, outs, bytes);
}
void TwoLevelEngine::scatter(const Call& call, const void* const* ins, void* out, size_t bytes) {
  all_->scatter(call, ins, out, bytes);
}
void TwoLevelEngine::reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) {
  all_->reduce_scatter(call, ins, out, count);
}
void TwoLevelEngine::alltoall(const Call& call, const Piece* ins, const Piece* outs) {
  all_->alltoall(call, ins, outs);
}
void TwoLevelEngine::barrier(const Call& call) { all_->barrier(call); }
std::unique_ptr<Transfer> TwoLevelEngine::send(int peer, int tag, const void* data, size_t bytes, Owner owner) {
  return all_->send(peer, tag, data, bytes, std::move(owner));
}
std::unique_ptr<Transfer> TwoLevelEngine::recv(int peer, int tag, void* data, size_t bytes, Owner owner) {
  return all_->recv(peer, tag, data, bytes, std::move(owner));
}

void TwoLevelEngine::abort(const std::string& why) {
  for (const auto& engine : {inside_, between_, all_})
    if (engine) engine->abort(why);
}

void TwoLevelEngine::leave() {
  for (const auto& engine : {inside_, between_, all_})
    if (engine) engine->leave();
}

}  // namespace hb::distributed::two_level
