// Limits that a container or service manager sets on this process (Linux control groups, version 1 and 2).
#pragma once

#include <cstdint>
#include <string>

namespace heed {

// `root` is where /proc and /sys are looked for; tests give another folder.
double cgroup_cores(const std::string& root = "");  // CPU quota in cores, infinite if there is none
// Bytes that may still be allocated; the largest int64_t if there is no limit.
int64_t cgroup_memory_available(const std::string& root = "");

}  // namespace heed
