#pragma once
// Datasets, samplers, transforms and the data loader.

#include <halfbridge/bridge/data/dataloader.h>
#include <halfbridge/bridge/data/datasets.h>
#include <halfbridge/bridge/data/samplers.h>
#include <halfbridge/bridge/data/transforms.h>

namespace hb::bridge::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace hb::bridge::data
