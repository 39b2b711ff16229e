#pragma once
#include <halfbridge/bridge/expanding_array.h>
#include <torch/types.h>
