#pragma once
#include <halfbridge/bridge/record_function.h>
#include <torch/types.h>
