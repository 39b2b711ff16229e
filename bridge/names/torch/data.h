#pragma once
#include <halfbridge/bridge/data/chunk.h>
#include <halfbridge/bridge/data/data.h>
#include <torch/arg.h>
#include <torch/data/detail/queue.h>
#include <torch/serialize.h>
#include <torch/types.h>

namespace torch::data {
using hb::bridge::data::BatchDataset;
using hb::bridge::data::DataLoaderBase;
using hb::bridge::data::DataLoaderOptions;
using hb::bridge::data::Dataset;
using hb::bridge::data::Example;
using hb::bridge::data::FullDataLoaderOptions;
using hb::bridge::data::Iterator;
using hb::bridge::data::make_data_loader;
using hb::bridge::data::StatefulDataLoader;
using hb::bridge::data::StatelessDataLoader;
using hb::bridge::data::TensorExample;
using hb::bridge::data::WorkerException;
namespace datasets {
using namespace hb::bridge::data::datasets;
}
namespace example {
using namespace hb::bridge::data::example;
}
namespace samplers {
using namespace hb::bridge::data::samplers;
}
namespace transforms {
using namespace hb::bridge::data::transforms;
}  // namespace transforms
}  // namespace torch::data
