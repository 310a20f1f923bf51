#pragma once
// The options of halo exchanges.

#include "options/option.hpp"

namespace shellac {

constexpr Option halo_options[] = {
    {"-shellac_halo_timeout", "seconds, 0 for no limit", "300",
     "How long a GPU waits for the halo of another GPU before it gives an error", "ShellacSetHaloTimeout"},
};

} // namespace shellac
