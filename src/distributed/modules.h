#pragma once
// Engines that are libraries of their own, opened when a group first asks for one. Where one is missing, the error
// names its package.

#include <memory>
#include <string>
#include <vector>

#include "distributed/engine.h"

namespace gloo::transport {
class Device;
}

namespace hb::distributed {

std::shared_ptr<Engine> gloo_engine(const intrusive_ptr<Store>& store, int rank, int size,
                                    std::shared_ptr<::gloo::transport::Device> device,
                                    std::chrono::milliseconds timeout);
/// Of an interface, of a host's name, or where both are empty of GLOO_SOCKET_IFNAME, this host's name or loopback.
std::shared_ptr<::gloo::transport::Device> gloo_device(const std::string& interface, const std::string& hostname);

/// Of the given ranks of the run, of all if there are none; null on a rank that is not among them. All ranks of the run
/// call it.
std::shared_ptr<Engine> mpi_engine(const std::vector<int>& ranks);
/// Of some of a group's ranks, which alone call it.
std::shared_ptr<Engine> split_mpi_engine(Engine& parent, const std::vector<int>& ranks);

// What the modules export.
using GlooEngineMaker = std::shared_ptr<Engine>(const intrusive_ptr<Store>&, int, int,
                                                std::shared_ptr<::gloo::transport::Device>, std::chrono::milliseconds);
using GlooDeviceMaker = std::shared_ptr<::gloo::transport::Device>(const std::string&, const std::string&);

using MpiEngineMaker = std::shared_ptr<Engine>(const std::vector<int>&);
using MpiSplitter = std::shared_ptr<Engine>(Engine&, const std::vector<int>&);

}  // namespace hb::distributed
