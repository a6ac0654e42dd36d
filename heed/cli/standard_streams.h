// Standard output and standard error, when they are closed, full or gone.
#pragma once

namespace heed::cli {

// To be called before anything is opened: a file that got the number of a closed stream would receive what is
// printed. Writing to what was closed fails, or in the case of standard error goes nowhere.
void hold_closed_streams();

// An Error if anything that was printed did not get out.
void finish_output();

}  // namespace heed::cli
