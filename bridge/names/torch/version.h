#pragma once
// The LibTorch whose interface this is.
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 11
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION_ABI_TAG 0
#define TORCH_VERSION "2.11.0"
