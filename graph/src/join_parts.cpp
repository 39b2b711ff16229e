// Where a step uses parts of a value (select(), narrow(), chunks), the gradient of each part is put among zeros, as
// large as the whole, and these are added. Here all parts are put among the same zeros, and zero is added at the end,
// once: that is all that the sums did to them (-0 becomes 0).
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "call_types.h"
#include "chain.h"
#include "passes.h"

namespace hb::graph {

namespace {

/// The bytes that a copy writes: elements at `offset` and so on, in dimensions that lie within each other.
struct Region {
  struct Dim {
    int64_t size, stride;
  };
  int64_t offset = 0, bytes = 0;
  std::vector<Dim> dims;  // outermost first
  bool nested = true;     // no two steps lead to the same byte
};

Region region_of(const Loop& loop, size_t offset) {
  const int64_t item = static_cast<int64_t>(element_size(loop.op[0].dtype));
  Region r;
  r.offset = static_cast<int64_t>(offset), r.bytes = loop.numel * item;
  for (size_t d = 0; d < loop.sizes.size(); ++d)
    if (loop.sizes[d] > 1) r.dims.push_back({loop.sizes[d], loop.op[0].strides[d]});
  std::sort(r.dims.begin(), r.dims.end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
  std::vector<Region::Dim> merged;
  int64_t reach = item;
  for (const Region::Dim& d : r.dims) {
    r.nested = r.nested && d.stride >= reach;
    reach += (d.size - 1) * d.stride;
    if (!merged.empty() && merged.back().size * merged.back().stride == d.stride)
      merged.back().size *= d.size;
    else
      merged.push_back(d);
  }
  std::reverse(merged.begin(), merged.end());
  r.dims = std::move(merged);
  return r;
}

/// Whether steps of the dimensions from `d` on, forwards and back, can lead `distance` bytes away.
bool reaches(const std::vector<Region::Dim>& dims, size_t d, int64_t distance) {
  if (d == dims.size()) return distance == 0;
  // What the inner dimensions can add is less than one step.
  const int64_t stride = dims[d].stride, down = distance / stride - (distance % stride < 0);
  for (const int64_t steps : {down, down + 1})
    if (std::abs(steps) < dims[d].size && reaches(dims, d + 1, distance - steps * stride)) return true;
  return false;
}

bool disjoint(const Region& a, const Region& b) {
  const auto same = [](const Region::Dim& x, const Region::Dim& y) { return x.size == y.size && x.stride == y.stride; };
  return a.nested && b.nested && std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), same) &&
         !reaches(a.dims, 0, b.offset - a.offset);
}

class Joining {
 public:
  Joining(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories)
      : calls_(calls), memories_(memories), last_(memories.size(), -1), left_out_(calls.size()) {}

  void run() {
    for (int i = 0; i < static_cast<int>(calls_.size()); ++i) {
      for (const Place& p : calls_[i].places) last_[p.memory] = i;
      for (const TensorPlace& t : calls_[i].tensors) last_[t.memory] = i;
    }
    for (int i = 0; i < static_cast<int>(calls_.size()); ++i)
      if (!zeros(i) && !part(i) && !sum(i)) forget(i);
    for (auto& [memory, whole] : wholes_) finish(whole);
    std::vector<RecordedCall> kept;
    for (size_t i = 0; i < calls_.size(); ++i)
      if (!left_out_[i]) kept.push_back(std::move(calls_[i]));
    calls_ = std::move(kept);
  }

 private:
  /// Memory that holds zeros and parts.
  struct Whole {
    int fill, sum = -1, added = -1;  // calls; the memory that the last sum added
    std::vector<int> copies;
    std::vector<Region> regions;
  };

  const Place* place(int i, const void* pointer) const {
    for (const Place& p : calls_[i].places)
      if (p.pointer == pointer) return &p;
    return nullptr;
  }
  bool is_whole(const Place* p, int64_t bytes) const {
    return p && p->offset == 0 && memories_[p->memory].temporary() &&
           memories_[p->memory].bytes == static_cast<size_t>(bytes);
  }

  bool zeros(int i) {
    const auto* const fill = as_call_of(fill_kernel, *calls_[i].call);
    if (!fill) return false;
    const Loop& loop = std::get<0>(fill->kept).value;
    const Scalar& value = std::get<1>(fill->kept).value;
    const Place* const out = place(i, &loop.op[0].data);
    const bool zero = !value.isComplex() && value.toDouble() == 0 && !std::signbit(value.toDouble());
    if (!zero || !is_whole(out, loop.numel * static_cast<int64_t>(element_size(loop.op[0].dtype)))) return false;
    forget(i);
    wholes_[out->memory] = {i, -1, -1, {}, {}};
    return true;
  }

  bool part(int i) {
    const auto* const copy = as_call_of(copy_kernel, *calls_[i].call);
    if (!copy) return false;
    const Loop& loop = std::get<0>(copy->kept).value;
    const Place *const out = place(i, &loop.op[0].data), *const in = place(i, &loop.op[1].data);
    const auto whole = out ? wholes_.find(out->memory) : wholes_.end();
    if (whole == wholes_.end() || whole->second.sum >= 0 || (in && wholes_.count(in->memory))) return false;
    const Region region = region_of(loop, out->offset);
    if (!apart(whole->second.regions, {region})) return false;
    whole->second.copies.push_back(i), whole->second.regions.push_back(region);
    return true;
  }

  /// One whole added to another in place, and read no more.
  bool sum(int i) {
    const Elementwise* const add = elementwise(*calls_[i].call);
    if (!add || std::string_view(add->name) != add_formula.name() || calls_[i].refresh) return false;
    const auto& kept = std::get<0>(add->kept);
    const FlatLoop& flat = kept.flat;
    if (flat.single || flat.dtype[0] != flat.dtype[1] || flat.dtype[0] != flat.dtype[2]) return false;
    const Place* const out = place(i, &flat.data[0]);
    const Place *a = place(i, &flat.data[1]), *b = place(i, &flat.data[2]);
    if (a && out && a->memory != out->memory) std::swap(a, b);
    const int64_t bytes = flat.numel * static_cast<int64_t>(element_size(flat.dtype[0]));
    if (!is_whole(out, bytes) || !is_whole(a, bytes) || !is_whole(b, bytes)) return false;
    const auto to = wholes_.find(out->memory), from = wholes_.find(b->memory);
    if (a->memory != out->memory || to == from || to == wholes_.end() || from == wholes_.end()) return false;
    Whole &x = to->second, &y = from->second;
    const bool fits = y.sum < 0 && last_[from->first] == i && !y.copies.empty() && x.fill < y.copies[0] &&
                      apart(x.regions, y.regions);
    if (!fits) return false;
    left_out_[y.fill] = true;
    if (x.sum >= 0) left_out_[x.sum] = true;
    for (const int copy : y.copies)
      for (Place& p : calls_[copy].places)
        if (p.memory == from->first) p.memory = to->first;
    x.copies.insert(x.copies.end(), y.copies.begin(), y.copies.end());
    x.regions.insert(x.regions.end(), y.regions.begin(), y.regions.end());
    x.sum = i, x.added = from->first;
    wholes_.erase(from);
    return true;
  }

  static bool apart(const std::vector<Region>& some, const std::vector<Region>& others) {
    for (const Region& a : some)
      for (const Region& b : others)
        if (!disjoint(a, b)) return false;
    return true;
  }

  /// Call `i` works on wholes in another way: they are what they are by then.
  void forget(int i) {
    const auto end = [&](int memory) {
      const auto at = wholes_.find(memory);
      if (at == wholes_.end()) return;
      finish(at->second);
      wholes_.erase(at);
    };
    for (const Place& p : calls_[i].places) end(p.memory);
    for (const TensorPlace& t : calls_[i].tensors) end(t.memory);
  }

  /// The last sum adds zero; where the parts are all of the whole, nothing was to be filled.
  void finish(const Whole& whole) {
    if (whole.sum < 0) return;
    auto& places = calls_[whole.sum].places;
    auto& kept = std::get<0>(static_cast<Elementwise&>(*calls_[whole.sum].call).kept);
    const auto at = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.memory == whole.added; });
    for (int k = 1; k < 3; ++k) {
      if (at->pointer != &kept.flat.data[k]) continue;
      std::fill(std::begin(kept.numbers[k]), std::end(kept.numbers[k]), 0);
      kept.flat.data[k] = kept.numbers[k];
      kept.flat.single |= 1u << k, kept.flat.numbers |= 1u << k;
    }
    places.erase(at);
    int64_t bytes = 0;
    for (const Region& r : whole.regions) bytes += r.bytes;
    const int memory = calls_[whole.fill].places[0].memory;
    if (memories_[memory].bytes == static_cast<size_t>(bytes)) left_out_[whole.fill] = true;
  }

  std::vector<RecordedCall>& calls_;
  const std::vector<Memory>& memories_;
  std::vector<int> last_;  // the last call that works on each memory
  std::vector<bool> left_out_;
  std::map<int, Whole> wholes_;
};

}  // namespace

void join_parts(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories) {
  Joining(calls, memories).run();
}

}  // namespace hb::graph
