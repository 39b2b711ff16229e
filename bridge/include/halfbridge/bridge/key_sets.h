#pragma once
// Whether the calling thread leaves out, or adds, all keys of a set.

#include <halfbridge/dispatch_key_set.h>

namespace hb::bridge {

inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) {
  return tls_local_dispatch_key_set().excluded_.has_all(keys);
}
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) {
  return tls_local_dispatch_key_set().included_.has_all(keys);
}

}  // namespace hb::bridge
