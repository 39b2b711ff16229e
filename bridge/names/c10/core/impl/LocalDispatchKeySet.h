#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/key_sets.h>

namespace c10::impl {
using hb::bridge::tls_is_dispatch_keyset_excluded;
using hb::bridge::tls_is_dispatch_keyset_included;
}  // namespace c10::impl
