#pragma once
// c10d's names, of which hb::distributed has the definitions.

#include <halfbridge/distributed/file_store.h>
#include <halfbridge/distributed/hash_store.h>
#include <halfbridge/distributed/prefix_store.h>
#include <halfbridge/distributed/process_group.h>
#include <halfbridge/distributed/process_group_gloo.h>
#include <halfbridge/distributed/process_group_mpi.h>
#include <halfbridge/distributed/process_group_nccl.h>
#include <halfbridge/distributed/tcp_store.h>

#include <ATen/ATen.h>
#include <torch/custom_class.h>

using hb::distributed::kBackendDefaultTimeout;
using hb::distributed::kNoTimeout;
using hb::distributed::kProcessGroupDefaultTimeout;

namespace c10d {
using hb::DistNetworkError;
using hb::DistStoreError;
using hb::distributed::_SupplementBase;
using hb::distributed::AllgatherOptions;
using hb::distributed::AllreduceCoalescedOptions;
using hb::distributed::AllreduceOptions;
using hb::distributed::AllToAllOptions;
using hb::distributed::Backend;
using hb::distributed::BarrierOptions;
using hb::distributed::BroadcastOptions;
using hb::distributed::currentProcessGroup;
using hb::distributed::debug_level;
using hb::distributed::DebugLevel;
using hb::distributed::DistributedBackendOptions;
using hb::distributed::ErrorType;
using hb::distributed::FileStore;
using hb::distributed::GatherOptions;
using hb::distributed::GLOO_BACKEND_NAME;
using hb::distributed::HashStore;
using hb::distributed::isComplexViewAsRealAllowed;
using hb::distributed::isP2POp;
using hb::distributed::kProcessGroupNCCLDefaultTimeout;
using hb::distributed::kSeqNumStoreKey;
using hb::distributed::kUnsetTimeout;
using hb::distributed::makeNCCLPreMulSum;
using hb::distributed::MPI_BACKEND_NAME;
using hb::distributed::NCCL_BACKEND_NAME;
using hb::distributed::NCCLPreMulSumSupplement;
using hb::distributed::OpType;
using hb::distributed::opTypeToString;
using hb::distributed::PrefixStore;
using hb::distributed::ProcessGroup;
using hb::distributed::ProcessGroupGloo;
using hb::distributed::ProcessGroupMPI;
using hb::distributed::ProcessGroupNCCL;
using hb::distributed::ReduceOp;
using hb::distributed::ReduceOptions;
using hb::distributed::ReduceScatterOptions;
using hb::distributed::ScatterOptions;
using hb::distributed::setDebugLevel;
using hb::distributed::setDebugLevelFromEnvironment;
using hb::distributed::setProcessGroup;
using hb::distributed::SocketError;
using hb::distributed::Store;
using hb::distributed::StoreTimeoutGuard;
using hb::distributed::TCPStore;
using hb::distributed::TCPStoreOptions;
using hb::distributed::TimeoutError;
using hb::distributed::WatchKeyCallback;
using hb::distributed::Work;
using hb::distributed::WorkInfo;
using hb::distributed::WorkResult;
}  // namespace c10d
