// Standard output and standard error that are closed or full.
#pragma once

namespace heed::cli {

// Call it before anything is opened: a file with the number of a closed stream would receive what is printed.
// Writing to a closed stream fails; to standard error it is discarded.
void hold_closed_streams();

// Throws if any output could not be written.
void finish_output();

}  // namespace heed::cli
