#pragma once
// How the host's loops are compiled.

// As SHELLAC_WIDE, and AVX-512 where the processor has it: its masks and registers serve the formulas with many cases.
// No loop here may contract to fused multiply-adds, so that all of them give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__) &&                      \
    !defined(__SANITIZE_ADDRESS__)
#define SHELLAC_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SHELLAC_WIDEST
#endif
