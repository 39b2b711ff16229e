#pragma once
#include <halfbridge/bridge/amp/custom_function.h>
#include <halfbridge/bridge/amp/grad_scaler.h>
#include <halfbridge/bridge/amp/loss_scaler.h>
#include <torch/types.h>
