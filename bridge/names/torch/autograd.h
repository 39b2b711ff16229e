#pragma once
#include <torch/types.h>
#include <halfbridge/bridge/autograd_function.h>
