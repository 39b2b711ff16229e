#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/distributions_helper.h>

namespace at {
using hb::bridge::bernoulli_distribution;
using hb::bridge::cauchy_distribution;
using hb::bridge::dist_acctype;
using hb::bridge::DistAccumType;
using hb::bridge::exponential_distribution;
using hb::bridge::geometric_distribution;
using hb::bridge::lognormal_distribution;
using hb::bridge::normal_distribution;
using hb::bridge::uniform_int_distribution;
using hb::bridge::uniform_int_from_to_distribution;
using hb::bridge::uniform_int_full_range_distribution;
using hb::bridge::uniform_real_distribution;
namespace transformation {
using namespace hb::bridge::transformation;
}
}  // namespace at
