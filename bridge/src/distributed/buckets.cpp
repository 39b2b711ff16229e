#include "distributed/buckets.h"

#include <algorithm>

#include <halfbridge/distributed/engine_backend.h>

namespace hb::distributed {

namespace {
struct Open {
  ScalarType dtype;
  Device device;
  int64_t limit, bytes = 0;
  Bucket bucket;
};
constexpr int64_t kAlignment = 64;
}  // namespace

std::vector<Bucket> make_buckets(const std::vector<Tensor>& tensors, const std::vector<size_t>& order,
                                 int64_t first_bytes, int64_t bytes) {
  std::vector<Open> open;
  std::vector<Bucket> done;
  for (const size_t i : order) {
    const Tensor& t = tensors[i];
    auto at = std::find_if(open.begin(), open.end(),
                           [&](const Open& o) { return o.dtype == t.scalar_type() && o.device == t.device(); });
    if (at == open.end()) at = open.insert(at, Open{t.scalar_type(), t.device(), first_bytes, 0, {}});
    const auto size = static_cast<int64_t>(t.element_size());
    const int64_t step = std::max<int64_t>(kAlignment / size, 1);
    Bucket& b = at->bucket;
    b.members.push_back(i);
    b.offsets.push_back(b.numel);
    b.numel += (t.numel() + step - 1) / step * step;
    at->bytes = b.numel * size;
    if (at->bytes < at->limit) continue;
    done.push_back(std::move(b));
    at->bucket = {}, at->bytes = 0, at->limit = bytes;
  }
  for (Open& o : open)
    if (!o.bucket.members.empty()) done.push_back(std::move(o.bucket));
  return done;
}

Tensor view_in(const Tensor& flat, const Bucket& bucket, size_t member, const Tensor& like) {
  return flat.narrow(0, bucket.offsets[member], like.numel()).view(like.sizes());
}

intrusive_ptr<Backend> backend_for(ProcessGroup& group, Device device) {
  for (const Device& d : group.getDeviceTypes())
    if (d.type() == device.type()) return group.getBackend(device.type());
  return nullptr;
}

ReduceOp as_mean(ProcessGroup& group, const Tensor& values) {
  const bool wide = values.scalar_type() == kFloat || values.scalar_type() == kDouble;
  if (wide && dynamic_cast<EngineBackend*>(backend_for(group, values.device()).get())) return ReduceOp::AVG;
  Tensor(values).mul_(1.0 / group.getSize());
  return ReduceOp::SUM;
}

}  // namespace hb::distributed
