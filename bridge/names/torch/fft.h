#pragma once
#include <halfbridge/bridge/fft.h>
#include <torch/types.h>
