#pragma once
#include <halfbridge/bridge/jit_pickle.h>
#include <torch/jit.h>
