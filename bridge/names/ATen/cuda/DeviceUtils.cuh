#pragma once
// CUDA's votes and shuffles of a warp under the names that LibTorch's kernels use.

constexpr unsigned hb_whole_warp = 0xffffffffu;

__device__ __forceinline__ unsigned WARP_ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ unsigned WARP_BALLOT(int predicate, unsigned mask = hb_whole_warp) {
  return __ballot_sync(mask, predicate);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = warpSize, unsigned mask = hb_whole_warp) {
  return __shfl_sync(mask, value, lane, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int lanes, int width = warpSize, unsigned mask = hb_whole_warp) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned by, int width = warpSize, unsigned mask = hb_whole_warp) {
  return __shfl_up_sync(mask, value, by, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned by, int width = warpSize, unsigned mask = hb_whole_warp) {
  return __shfl_down_sync(mask, value, by, width);
}
__device__ __forceinline__ void WARP_SYNC(unsigned mask = hb_whole_warp) { __syncwarp(mask); }
