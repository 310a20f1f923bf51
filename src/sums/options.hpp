#pragma once
// The options of a Mat, and of a PC, of type kernelsum.

#include "options/option.hpp"

namespace shellac {

constexpr Option sums_options[] = {
    {"-mat_kernelsum_kernel",
     "gaussian|laplace|helmholtz|yukawa|multiquadric|inverse_multiquadric|thin_plate|logarithm", "gaussian",
     "The kernel function g(x, y)", "MatKernelSumSetKernel"},
    {"-mat_kernelsum_formula", "text", "none",
     "A formula of r, sigma and k instead of a named function, such as \"exp(-r/sigma)\"", "MatKernelSumSetFormula"},
    {"-mat_kernelsum_sigma", "real, > 0", "1", "Length σ of the function [length]; an error for functions without σ",
     "MatKernelSumSetSigma"},
    {"-mat_kernelsum_wavenumber", "real, >= 0", "none: helmholtz and yukawa need it, > 0",
     "Wavenumber or decay k of the function [1/length]; an error for functions without k", "MatKernelSumSetWavenumber"},
    {"-mat_kernelsum_precision", "double|single|mixed", "double", "Precision in which pairs are computed",
     "MatKernelSumSetPrecision"},
    {"-mat_kernelsum_self", "automatic|zero|limit|error", "automatic", "The value of g(x, x)", "MatKernelSumSetSelf"},
    {"-mat_kernelsum_type", "direct|fast|auto", "direct", "All pairs, or a fast method with a tolerance",
     "MatKernelSumSetMethod"},
    {"-mat_kernelsum_rtol", "real, 1e-12 to 1", "1e-6",
     "Relative tolerance of the fast method; an error for the type direct", "MatKernelSumSetMethod"},
    {"-mat_kernelsum_monitor", "true|false", "false", "Print the progress of each product", "MATKERNELSUM"},
};

constexpr Option sums_pc_options[] = {
    {"-pc_kernelsum_box", "integer, 1 or more", "100", "largest number of points in a box", "PCKernelSumSetBoxSize"},
    {"-pc_kernelsum_overlap", "integer, 0 or more",
     "48, 240, 384 in 1-D, 2-D, 3-D; a Gaussian 64, 230, 600, a multiquadric in the symmetric variant 96, 320, 512; "
     "more where the kernel is wide",
     "points around a box that are solved with it", "PCKernelSumSetOverlap"},
    {"-pc_kernelsum_coarse", "integer, 0 or more", "one for each 50 points, at most 1000; none for a Gaussian",
     "approximate number of coarse points; 0: no coarse space; the symmetric variant takes only 0",
     "PCKernelSumSetCoarsePoints"},
    {"-pc_kernelsum_variant", "auto|restricted|symmetric",
     "auto: symmetric where the matrices of all boxes are positive definite",
     "restricted additive Schwarz, or a symmetric preconditioner", "PCKernelSumSetVariant"},
};

} // namespace shellac
