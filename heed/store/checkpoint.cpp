#include "heed/store/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/base/system_error.h"
#include "heed/store/json_file.h"
#include "heed/store/unfinished.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kStateFile = "state.safetensors";
constexpr const char* kProgressFile = "progress.json";
constexpr const char* kSum = "checksum";  // in progress.json, of the rest of it
constexpr std::string_view kPrefix = "step-";
constexpr size_t kDigits = 8;

std::string name_of_step(int64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return std::string(kPrefix) + digits;
}

// -1 if the name is not that of a checkpoint.
int64_t step_of_name(const std::string& name) {
  constexpr size_t kMostDigits = 18;  // fit into 64 bits
  if (!name.starts_with(kPrefix)) return -1;
  const std::string digits = name.substr(kPrefix.size());
  if (digits.empty() || digits.size() > kMostDigits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  const int64_t step = std::stoll(digits);
  return name == name_of_step(step) ? step : -1;
}

struct Listing {
  std::map<int64_t, fs::path, std::greater<>> checkpoints;  // newest first
  std::vector<fs::path> unfinished;
};

Listing list(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    const int64_t step = step_of_name(name);
    if (step >= 0) listing.checkpoints[step] = entry->path();
    if (name.starts_with(kPrefix) && is_unfinished_name(name)) listing.unfinished.push_back(entry->path());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw system_error(folder.string(), ": cannot be listed: ", error.message());
  return listing;
}

void remove_older(const fs::path& folder, int64_t newest, const Retention& retention) {
  int64_t kept = 0;
  for (const auto& [step, path] : list(folder).checkpoints) {
    // Later steps are damaged ones that the run skipped when it resumed; it will write them again.
    if (step > newest || ++kept <= retention.keep) continue;
    if (std::find(retention.protect.begin(), retention.protect.end(), step) == retention.protect.end())
      retire(path);
  }
}

// Why the file cannot fill the tensors, one line each.
std::vector<std::string> differences(const Safetensors& file, const Tensors& tensors) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : tensors) {
    if (!file.contains(name)) {
      out.push_back(text(name_in_quotes(name), " ", tensor.type.str(), " is missing there"));
      continue;
    }
    const StoredTensor& stored = file.info(name);
    const Shape& shape = tensor.shape();
    bool same = stored.shape.size() == static_cast<size_t>(shape.rank());
    for (int i = 0; same && i < shape.rank(); ++i)
      same = stored.shape[static_cast<size_t>(i)] == shape.dim(i);
    same = same && stored.fills(tensor.type.dtype);
    if (!same)
      out.push_back(
          text(name_in_quotes(name), " is ", stored.str(), " there and ", tensor.type.str(), " here"));
  }
  for (const auto& [name, stored] : file.all()) {
    if (!tensors.contains(name))
      out.push_back(text(name_in_quotes(name), " ", stored.str(), " is only there"));
  }
  return out;
}

std::string sum_of(const Json& progress) {
  return hash_name(hash_bytes(progress.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

void check_same(const fs::path& path, const Safetensors& file, const Tensors& tensors) {
  constexpr size_t kShown = 4;
  const std::vector<std::string> found = differences(file, tensors);
  if (found.empty()) return;
  std::string shown;
  for (size_t i = 0; i < std::min(found.size(), kShown); ++i) shown += "\n  " + found[i];
  if (found.size() > kShown) shown += text("\n  and ", found.size() - kShown, " more");
  throw usage_error(path.string(), ": is a checkpoint of another architecture:", shown,
                    "\nuse the settings it was trained with, or another folder");
}

void fill(const Safetensors& file, const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors) file.read(name, tensor);
}

}  // namespace

fs::path save_checkpoint(const fs::path& folder, int64_t step, const Tensors& parameters,
                         const Tensors& states, const Json& progress, const Retention& retention) {
  if (step < 0 || retention.keep < 1)
    throw usage_error("checkpoint: step ", step, ", keep ", retention.keep,
                      "; steps count from 0, at least 1 is kept");
  const fs::path target = folder / name_of_step(step);
  try {
    // Not its parent: the folder of a run that was removed is not created again.
    if (fs::create_directory(folder) && folder.has_parent_path()) sync_to_disk(folder.parent_path());
    Unfinished unfinished(target);
    write_safetensors(unfinished.path() / kModelFile, parameters);
    write_safetensors(unfinished.path() / kStateFile, states);
    Json checked = progress;
    if (checked.is_object()) checked[kSum] = sum_of(progress);
    write_json_object(unfinished.path() / kProgressFile, checked);
    unfinished.finish();
  } catch (const Error& error) {
    throw Error(error.kind(), text("the checkpoint of step ", step, " was not saved: ", error.what()));
  } catch (const fs::filesystem_error& error) {
    throw system_error("the checkpoint of step ", step, " was not saved: ", folder.string(),
                       ": cannot be created: ", system_reason(error.code().value()));
  }
  remove_older(folder, step, retention);
  return target;
}

Json read_progress(const fs::path& path) {
  const fs::path file = path / kProgressFile;
  Json progress = read_json_object(file);
  // Checkpoints of earlier versions have no sum.
  const Json stated = progress.value(kSum, Json());
  progress.erase(kSum);
  if (!stated.is_null() && stated != sum_of(progress))
    throw damaged_error(file.string(), ": is damaged: its checksum is ", sum_of(progress), ", ",
                        stated.dump(), " was written");
  return progress;
}

fs::path newest_checkpoint(const fs::path& folder) {
  const Listing listing = list(folder);
  return listing.checkpoints.empty() ? fs::path() : listing.checkpoints.begin()->second;
}

bool is_checkpoint(const fs::path& path) {
  return step_of_name(path.filename()) >= 0 && fs::is_directory(path);
}

LatestCheckpoint latest_checkpoint(const fs::path& folder) {
  LatestCheckpoint latest;
  const Listing listing = list(folder);
  for (const fs::path& path : listing.unfinished) {
    if (remove_abandoned(path)) latest.notes.push_back(path.string() + ": removed, it was never finished");
  }
  for (const auto& [step, path] : listing.checkpoints) {
    try {
      const Safetensors model(path / kModelFile), state(path / kStateFile);
      read_progress(path);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kSystem) throw;  // memory, limits: the file may be whole
      latest.notes.push_back(text(path.string(), ": skipped, it is damaged: ", error.what()));
      ++latest.damaged;
      continue;
    }
    latest.path = path;
    latest.step = step;
    break;
  }
  return latest;
}

Json load_checkpoint(const fs::path& path, const Tensors& parameters, const Tensors& states) {
  const Safetensors model(path / kModelFile), state(path / kStateFile);
  Json progress = read_progress(path);
  check_same(path / kModelFile, model, parameters);
  check_same(path / kStateFile, state, states);
  fill(model, parameters);
  fill(state, states);
  return progress;
}

Json load_checkpoint(const fs::path& path, const Tensors& parameters) {
  Json progress = read_progress(path);
  const Safetensors model(path / kModelFile);
  check_same(path / kModelFile, model, parameters);
  fill(model, parameters);
  return progress;
}

}  // namespace heed::store
