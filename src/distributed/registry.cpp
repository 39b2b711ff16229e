#include <halfbridge/distributed/registry.h>

#include <atomic>
#include <map>
#include <mutex>

namespace hb::distributed {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, intrusive_ptr<ProcessGroup>> groups;
};

std::atomic<bool>& isolated() {
  static std::atomic<bool> flag{false};
  return flag;
}

// The shared one is never destroyed: threads may ask while the process ends.
Registry& registry() {
  static auto& shared = *new Registry;
  thread_local Registry own;
  return isolated() ? own : shared;
}

}  // namespace

void register_process_group(const std::string& group_name, const intrusive_ptr<ProcessGroup>& group) {
  Registry& r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  const bool free = r.groups.emplace(group_name, group).second;
  HB_CHECK(free,
           "[register_process_group] expected a free name, but a process group is already registered under the name ",
           group_name);
}

intrusive_ptr<ProcessGroup> resolve_process_group(const std::string& group_name) {
  Registry& r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  const auto found = r.groups.find(group_name);
  HB_CHECK(found != r.groups.end(),
           "[resolve_process_group] could not resolve the process group registered under the name ", group_name);
  return found->second;
}

void unregister_process_group(const std::string& group_name) {
  Registry& r = registry();
  decltype(r.groups)::node_type ends;  // outside of the lock: a group may take long to end
  const std::lock_guard<std::mutex> lock(r.mutex);
  ends = r.groups.extract(group_name);
}

void unregister_all_process_groups() {
  Registry& r = registry();
  decltype(r.groups) end;
  const std::lock_guard<std::mutex> lock(r.mutex);
  end.swap(r.groups);
}

void set_thread_isolation_mode(bool enable) { isolated() = enable; }
bool get_thread_isolation_mode() { return isolated(); }

}  // namespace hb::distributed
