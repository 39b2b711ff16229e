#pragma once
// Modules, functional forms and utilities.

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/activation.h>
#include <halfbridge/bridge/nn/adaptive.h>
#include <halfbridge/bridge/nn/containers/functional_module.h>
#include <halfbridge/bridge/nn/containers/lists.h>
#include <halfbridge/bridge/nn/containers/sequential.h>
#include <halfbridge/bridge/nn/conv.h>
#include <halfbridge/bridge/nn/distance.h>
#include <halfbridge/bridge/nn/dropout.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/fractional_pool.h>
#include <halfbridge/bridge/nn/init.h>
#include <halfbridge/bridge/nn/linear.h>
#include <halfbridge/bridge/nn/loss.h>
#include <halfbridge/bridge/nn/normalization.h>
#include <halfbridge/bridge/nn/padding.h>
#include <halfbridge/bridge/nn/pooling.h>
#include <halfbridge/bridge/nn/rnn.h>
#include <halfbridge/bridge/nn/transformer.h>
#include <halfbridge/bridge/nn/utils.h>
#include <halfbridge/bridge/nn/vision.h>
