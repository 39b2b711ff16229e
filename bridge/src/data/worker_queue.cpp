#include <halfbridge/bridge/data/dataloader.h>

namespace hb::bridge::data::detail {

template class WorkerQueue<std::vector<size_t>, Example<>>;
template class WorkerQueue<std::vector<size_t>, std::vector<Example<>>>;

}  // namespace hb::bridge::data::detail
