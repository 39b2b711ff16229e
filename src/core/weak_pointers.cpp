#include <mutex>
#include <unordered_map>

#include <halfbridge/intrusive_ptr.h>

namespace hb {
namespace detail {

struct WeakRecord {
  const intrusive_ptr_target* target;  // null when the object is gone

  static void mark(const intrusive_ptr_target& t) {
    t.count_.fetch_or(intrusive_ptr_target::kObserved, std::memory_order_relaxed);
  }
  static bool retain_if_owned(const intrusive_ptr_target& t) {
    int64_t count = t.count_.load(std::memory_order_relaxed);
    while ((count & ~intrusive_ptr_target::kObserved) != 0) {
      if (t.count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
};

namespace {
// Objects carry one bit alone, so that those without weak pointers, which are nearly all, stay small and fast.
struct Observed {
  std::mutex mutex;  // guards the table and `target` of every record
  std::unordered_map<const intrusive_ptr_target*, std::weak_ptr<WeakRecord>> records;
};
Observed& observed() {
  static auto* all = new Observed;  // never destroyed: static destructors free objects too
  return *all;
}
}  // namespace

std::shared_ptr<WeakRecord> observe(const intrusive_ptr_target& target) {
  Observed& all = observed();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::weak_ptr<WeakRecord>& known = all.records[&target];
  std::shared_ptr<WeakRecord> record = known.lock();
  if (!record) {
    record = std::make_shared<WeakRecord>(WeakRecord{&target});
    known = record;
    WeakRecord::mark(target);
  }
  return record;
}

bool retain_observed(WeakRecord& record) {
  const std::lock_guard<std::mutex> lock(observed().mutex);
  return record.target && WeakRecord::retain_if_owned(*record.target);
}

int64_t owners_of_observed(const WeakRecord& record) {
  const std::lock_guard<std::mutex> lock(observed().mutex);
  return record.target ? record.target->use_count() : 0;
}

}  // namespace detail

int64_t intrusive_ptr_target::weak_use_count() const {
  if ((count_.load(std::memory_order_relaxed) & kObserved) == 0) return 1;
  detail::Observed& all = detail::observed();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.records.find(this);
  return 1 + (found == all.records.end() ? 0 : found->second.use_count());
}

void intrusive_ptr_target::drop() const noexcept {
  if (release()) destroy();
}

void intrusive_ptr_target::tell_observers() const {
  std::shared_ptr<detail::WeakRecord> record;
  {
    detail::Observed& all = detail::observed();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.records.find(this);
    record = found->second.lock();
    all.records.erase(found);
    if (record) record->target = nullptr;
  }
  if (record) const_cast<intrusive_ptr_target*>(this)->release_resources();
}

}  // namespace hb
