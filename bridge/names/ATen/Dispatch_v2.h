#pragma once
// AT_DISPATCH_V2(dtype, "name", AT_WRAP([&] { ... scalar_t ... }), AT_EXPAND(AT_ALL_TYPES), torch::kHalf, ...)

#include <ATen/Dispatch.h>

#define AT_EXPAND(...) __VA_ARGS__
#define AT_WRAP(...) __VA_ARGS__

#define AT_FLOATING_TYPES c10::kDouble, c10::kFloat
#define AT_COMPLEX_TYPES c10::kComplexDouble, c10::kComplexFloat
#define AT_INTEGRAL_TYPES c10::kByte, c10::kChar, c10::kInt, c10::kLong, c10::kShort
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)
#define AT_ALL_TYPES_AND_COMPLEX AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_COMPLEX_TYPES)
#define AT_BAREBONES_UNSIGNED_TYPES c10::kUInt16, c10::kUInt32, c10::kUInt64
#define AT_INTEGRAL_TYPES_V2 AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES)

// One case for each dtype of the list: the preprocessor rescans as often as there may be dtypes.
#define HB_V2_RESCAN(...) HB_V2_RESCAN_9(HB_V2_RESCAN_9(HB_V2_RESCAN_9(__VA_ARGS__)))
#define HB_V2_RESCAN_9(...) HB_V2_RESCAN_3(HB_V2_RESCAN_3(HB_V2_RESCAN_3(__VA_ARGS__)))
#define HB_V2_RESCAN_3(...) HB_V2_ONCE(HB_V2_ONCE(HB_V2_ONCE(__VA_ARGS__)))
#define HB_V2_ONCE(...) __VA_ARGS__
#define HB_V2_UNWRAP(...) __VA_ARGS__
#define HB_V2_CASES(body, dtype, ...) \
  AT_DISPATCH_CASE(dtype, HB_V2_UNWRAP body) __VA_OPT__(HB_V2_NEXT HB_V2_PARENTHESES(body, __VA_ARGS__))
#define HB_V2_NEXT() HB_V2_CASES
#define HB_V2_PARENTHESES ()

#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, HB_V2_RESCAN(HB_V2_CASES((BODY), __VA_ARGS__)))
