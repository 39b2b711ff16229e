#pragma once
#include <halfbridge/bridge/autograd_function.h>
#include <torch/types.h>
