#pragma once
#include <halfbridge/bridge/autograd/anomaly.h>
#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/bridge/autograd/functional.h>
#include <halfbridge/bridge/autograd/variable.h>
#include <halfbridge/bridge/autograd_function.h>
#include <halfbridge/bridge/checkpoint.h>
#include <torch/types.h>
