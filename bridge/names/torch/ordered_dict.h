#pragma once
#include <halfbridge/bridge/ordered_dict.h>
#include <torch/types.h>
