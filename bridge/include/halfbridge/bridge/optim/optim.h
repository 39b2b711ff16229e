#pragma once
// Every optimizer and scheduler.

#include <halfbridge/bridge/optim/adadelta.h>
#include <halfbridge/bridge/optim/adafactor.h>
#include <halfbridge/bridge/optim/adagrad.h>
#include <halfbridge/bridge/optim/adam.h>
#include <halfbridge/bridge/optim/adamax.h>
#include <halfbridge/bridge/optim/asgd.h>
#include <halfbridge/bridge/optim/combined_schedulers.h>
#include <halfbridge/bridge/optim/cyclic_schedulers.h>
#include <halfbridge/bridge/optim/epoch_schedulers.h>
#include <halfbridge/bridge/optim/lamb.h>
#include <halfbridge/bridge/optim/lbfgs.h>
#include <halfbridge/bridge/optim/lion.h>
#include <halfbridge/bridge/optim/nadam.h>
#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/bridge/optim/radam.h>
#include <halfbridge/bridge/optim/rmsprop.h>
#include <halfbridge/bridge/optim/rprop.h>
#include <halfbridge/bridge/optim/schedulers.h>
#include <halfbridge/bridge/optim/serialize.h>
#include <halfbridge/bridge/optim/sgd.h>
#include <halfbridge/bridge/optim/swa_utils.h>
