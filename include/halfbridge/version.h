// The version of Halfbridge. `torch/version.h` has that of the API of LibTorch.
#pragma once

#define HALFBRIDGE_VERSION_MAJOR 0
#define HALFBRIDGE_VERSION_MINOR 1
#define HALFBRIDGE_VERSION_PATCH 0
#define HALFBRIDGE_VERSION "0.1.0"
