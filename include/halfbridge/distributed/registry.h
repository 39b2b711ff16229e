#pragma once
// Groups by name.

#include <string>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// Makes a group known under a name, which has to be free. The group lives until it is
/// unregistered.
HB_API void register_process_group(const std::string& group_name, const intrusive_ptr<ProcessGroup>& group);
/// The group that was registered. Throws hb::Error where there is none.
HB_API intrusive_ptr<ProcessGroup> resolve_process_group(const std::string& group_name);
/// Frees a name; one that is free stays so.
HB_API void unregister_process_group(const std::string& group_name);
HB_API void unregister_all_process_groups();
/// From now on each thread has names of its own, or all threads share theirs (as at first).
HB_API void set_thread_isolation_mode(bool enable);
HB_API bool get_thread_isolation_mode();

}  // namespace hb::distributed
