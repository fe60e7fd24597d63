// C = A B in f32, of halves: see mma-tiles.cuh.
typedef unsigned short half_bits;

__device__ __forceinline__ void multiply(float *d, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#include "mma-tiles.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) mma_f16(int n, const half_bits *A, const half_bits *B, float *C) {
  multiply_matrices<half_bits, float, float2>(n, A, B, C);
}
