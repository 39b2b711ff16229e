#pragma once

#define C10_EXPORT __attribute__((visibility("default")))
#define C10_IMPORT C10_EXPORT
#define C10_HIDDEN __attribute__((visibility("hidden")))
#define C10_API
#define TORCH_API
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
#define C10_UNUSED __attribute__((unused))
#define C10_NODISCARD [[nodiscard]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((always_inline))
#define C10_ALWAYS_INLINE_UNUSED C10_ALWAYS_INLINE C10_UNUSED
#define C10_RESTRICT __restrict__
#ifdef __CUDACC__
#define C10_HOST __host__
#define C10_DEVICE __device__
#else
#define C10_HOST
#define C10_DEVICE
#endif
#define C10_HOST_DEVICE C10_HOST C10_DEVICE
#define C10_EXPAND_MSVC_WORKAROUND(x) x
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, __COUNTER__)
#define C10_UID __COUNTER__
#define C10_DISABLE_COPY_AND_ASSIGN(Class) \
  Class(const Class&) = delete;            \
  Class& operator=(const Class&) = delete
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(text) [[deprecated(text)]]
#define C10_LOG_API_USAGE_ONCE(...) static_cast<void>(0)
#define TORCH_CUDA_CPP_API
#define TORCH_CUDA_CU_API
#define C10_CUDA_API
#define TORCH_PYTHON_API
#define C10_USED __attribute__((used))
