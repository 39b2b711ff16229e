#pragma once

/// Marks what the shared library offers to programs.
#define HB_API __attribute__((visibility("default")))
#define HB_LIKELY(x) __builtin_expect(!!(x), 1)
#define HB_UNLIKELY(x) __builtin_expect(!!(x), 0)
