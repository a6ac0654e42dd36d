// Checkpoints: folders step-00000123, side by side, each complete or not there at all.
//
//   model.safetensors   the parameters
//   state.safetensors   everything else that training carries on: moments, memories
//   progress.json       what the caller needs to resume
//
// A checkpoint is written under a temporary name, synced to disk, then renamed. Whatever kills the process,
// complete checkpoints stay complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/store/safetensors.h"

namespace heed::store {

// Which older checkpoints stay when a new one is complete.
struct Retention {
  int64_t keep = 2;                   // the newest ones, including the new one; at least 1
  std::vector<int64_t> protect = {};  // steps that are always kept, such as the best
};

// Writes folder/step-..., which is returned, and then removes older ones; those of later steps are left
// alone. The folder is created if necessary, but not its parent. On an Error (full disk, no permission) all
// others stay as they were.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder, int64_t step,
                                      const Tensors& parameters, const Tensors& states, const Json& progress,
                                      const Retention& retention = {});

struct LatestCheckpoint {
  std::filesystem::path path;  // empty if there is none
  int64_t step = -1;
  int64_t damaged = 0;             // newer ones that were skipped
  std::vector<std::string> notes;  // what was skipped and why, what was cleaned up, to tell the user
};
// The newest complete one. Removes what dead processes have left half written.
LatestCheckpoint latest_checkpoint(const std::filesystem::path& folder);

// The newest, for readers: nothing is checked or removed, a run may be writing there. Empty if there is none.
std::filesystem::path newest_checkpoint(const std::filesystem::path& folder);
// progress.json of a checkpoint. Throws if it is damaged.
Json read_progress(const std::filesystem::path& checkpoint);
// Whether the path is a folder named like a checkpoint.
bool is_checkpoint(const std::filesystem::path& path);

// Fills the tensors and returns progress.json. Names, types and shapes must match exactly; otherwise throws
// an Error that lists the differences, and no tensor is touched.
Json load_checkpoint(const std::filesystem::path& path, const Tensors& parameters, const Tensors& states);
// The same for the parameters alone, to use a model without training it further.
Json load_checkpoint(const std::filesystem::path& path, const Tensors& parameters);

}  // namespace heed::store
