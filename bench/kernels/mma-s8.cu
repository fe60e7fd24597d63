// C = A B in 32 bits, of integers of 8 bits: see mma-tiles.cuh.
typedef signed char element;

__device__ __forceinline__ void multiply(int *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#include "mma-tiles.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) mma_s8(int n, const element *A, const element *B, int *C) {
  multiply_matrices<element, int, int2>(n, A, B, C);
}
