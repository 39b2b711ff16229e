#pragma once
// Training in several processes: all of it. It does not come with <torch/torch.h>.

#include <halfbridge/bridge/distributed/checkpoint.h>
#include <halfbridge/bridge/distributed/comm_hooks.h>
#include <halfbridge/bridge/distributed/data_parallel.h>
#include <halfbridge/bridge/distributed/grad_reducer.h>
#include <halfbridge/bridge/distributed/sync_batch_norm.h>
#include <halfbridge/bridge/distributed/zero_optimizer.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>
