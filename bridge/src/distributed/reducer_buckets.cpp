// Which gradients travel together.
#include <halfbridge/distributed/objects.h>

#include <algorithm>

#include <halfbridge/ops.h>

#include "distributed/reducer.h"

namespace hb::distributed {

namespace {

constexpr int64_t kFirstBucketBytes = 1 << 20;

/// Zeros, in memory that the ranks share where they can, so that sums copy nothing.
Tensor bucket_memory(ProcessGroup& group, int64_t numel, const Tensor& like) {
  const TensorOptions options = like.options().requires_grad(false);
  if (like.device() == Device(kCPU) && group.getSize() > 1) {
    const auto backend = backend_for(group, like.device());
    if (backend && backend->supportsTensorAlloc(-1)) return backend->allocateTensor(numel, options).zero_();
  }
  return zeros({numel}, options);
}

}  // namespace

void Reducer::rebuild(const std::vector<size_t>& order) {
  const auto cap = std::max<int64_t>(static_cast<int64_t>(options_.bucket_cap_mb() * (1 << 20)), 1);
  buckets_.clear();
  place_.assign(parameters_.size(), {});
  std::vector<size_t> dense;
  for (const size_t i : order)
    if (!sparse_[i]) dense.push_back(i);
  for (Bucket& b : make_buckets(parameters_, dense, std::min(kFirstBucketBytes, cap), cap)) {
    Flat flat;
    flat.data = bucket_memory(*group_, b.numel, parameters_[b.members[0]]);
    for (size_t m = 0; m < b.members.size(); ++m) {
      flat.views.push_back(view_in(flat.data, b, m, parameters_[b.members[m]]));
      place_[b.members[m]] = {buckets_.size(), m};
    }
    flat.bucket = std::move(b);
    buckets_.push_back(std::move(flat));
  }
  for (const size_t i : order)
    if (sparse_[i]) add_sparse(i);
  offer_places();
}

// Gradients are made in their buckets, as far as their formulas can.
void Reducer::offer_places() {
  if (!options_.gradient_as_bucket_view()) return;
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    const Flat& b = buckets_[place_[i].first];
    // A tensor of its own: the node is to see whether anybody else holds it.
    if (!b.sparse) accumulators_[i]->set_destination(view_in(b.data, b.bucket, place_[i].second, parameters_[i]));
  }
}

void Reducer::withdraw_places() {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    const Flat& b = buckets_[place_[i].first];
    const Tensor& memory = accumulators_[i]->destination();
    if (!b.sparse && memory.defined() && memory.storage().is_alias_of(b.data.storage()))
      accumulators_[i]->set_destination({});
  }
}

void Reducer::add_sparse(size_t parameter) {
  Flat flat;
  flat.sparse = true;
  flat.bucket.members = {parameter}, flat.bucket.offsets = {0};
  place_[parameter] = {buckets_.size(), 0};
  buckets_.push_back(std::move(flat));
}

// After the first pass, in the order in which rank 0's gradients came. Whether it is due depends on what all ranks know
// alone: a rank without data may have seen no gradient.
void Reducer::rebuild_if_due() {
  if (rebuilt_ || passes_ == 0 || options_.find_unused_parameters()) return;
  rebuilt_ = true;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (std::find(order_.begin(), order_.end(), i) == order_.end()) order_.push_back(i);
  const std::string own(reinterpret_cast<const char*>(order_.data()), order_.size() * sizeof(size_t));
  const std::string bytes = broadcast_bytes(*group_, own);
  const auto* numbers = reinterpret_cast<const size_t*>(bytes.data());
  rebuild({numbers, numbers + parameters_.size()});
}

std::vector<int64_t> Reducer::bucket_sizes() const {
  std::vector<int64_t> sizes;
  for (const Flat& b : buckets_)
    if (!b.sparse) sizes.push_back(b.bucket.numel * static_cast<int64_t>(b.data.element_size()));
  return sizes;
}

}  // namespace hb::distributed
