// Cloneable of every module of the library, see HB_LIBRARY_MODULE.
#define HB_INSTANTIATE_MODULES
#include <halfbridge/bridge/distributed/sync_batch_norm.h>
#include <halfbridge/bridge/nn.h>
