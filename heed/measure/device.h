// The machine a program runs on.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/fields.h"

namespace heed::measure {

struct Device {
  std::string cpu;
  int64_t cores = 0;    // that the machine has
  int64_t allowed = 0;  // that this process may use
  int64_t threads = 0;  // that it uses
  double quota = 0;     // cores that a control group grants, 0 for no limit
  std::string instructions;
  std::string products;             // the library of matrix products
  int64_t memory = 0;               // bytes
  int64_t available = 0;            // bytes that may still be allocated
  std::string huge_pages = "none";  // what the kernel does with them
  template <class Visitor>
  void visit(Visitor&& field) {
    field("cpu", cpu, "processor");
    field("cores", cores, "of the machine");
    field("allowed", allowed, "cores this process may use");
    field("threads", threads, "that heed uses");
    field("quota", quota, "cores a control group grants, 0 for no limit");
    field("instructions", instructions, "instruction set chosen");
    field("products", products, "library of matrix products");
    field("memory", memory, "bytes");
    field("available", available, "bytes that may still be allocated");
    field("huge_pages", huge_pages, "what the kernel does with them");
  }
  // Everything that times depend on: equal for equal machines, settings and versions of heed.
  std::string fingerprint() const;
};

Device this_device();

// How many cores other processes or the host use over the next quarter of a second.
double load_of_others();

}  // namespace heed::measure
