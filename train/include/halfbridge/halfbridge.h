#pragma once
// Everything: engine, bridge, the training layer above it and traces. Names of the latter are in hb::bridge, hb::amp,
// hb::train and hb::trace.

#include <halfbridge/engine.h>

#include <halfbridge/bridge/amp/grad_scaler.h>
#include <halfbridge/bridge/amp/loss_scaler.h>
#include <halfbridge/bridge/autograd/functional.h>
#include <halfbridge/bridge/autograd_function.h>
#include <halfbridge/bridge/checkpoint.h>
#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/data/data.h>
#include <halfbridge/bridge/nn.h>
#include <halfbridge/bridge/optim/optim.h>
#include <halfbridge/bridge/serialize.h>

#include <halfbridge/amp/initialize.h>
#include <halfbridge/amp/levels.h>
#include <halfbridge/amp/mixed_precision_optimizer.h>
#include <halfbridge/amp/train_network.h>
#include <halfbridge/amp/train_one_step.h>
#include <halfbridge/graph.h>
#include <halfbridge/train/accumulator.h>
#include <halfbridge/train/callbacks.h>
#include <halfbridge/train/metrics.h>
#include <halfbridge/train/model.h>
#include <halfbridge/train/summary.h>
#include <halfbridge/train/tensorboard.h>

#include <halfbridge/trace/debug.h>
#include <halfbridge/trace/session.h>
