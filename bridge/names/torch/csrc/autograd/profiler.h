#pragma once
#include <halfbridge/bridge/profiler.h>
#include <torch/types.h>
