// C = A B in f32, of halves, A in rows and B in columns, as it is done on Hopper: one warp lets the TMA copy tiles into a
// ring of stages, and two warpgroups multiply them by wgmma, 64 rows and 128 columns each. mbarriers say which stages are
// full and which are empty.

constexpr int TILE = 128, DEPTH = 64, STAGES = 3, CONSUMERS = 2;
// Bytes of a tile of one matrix: rows of 128 bytes, in the swizzle of 128 bytes.
constexpr int TILE_BYTES = TILE * DEPTH * 2;

struct alignas(64) tensor_map {
  char bytes[128];
};

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void copy(unsigned to, const tensor_map *map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// Rows of 128 bytes with the swizzle of 128 bytes: eight of them are 1024 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned at) {
  return (at >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

// Adds a product of 64 rows, 128 columns and 16 elements of k.
__device__ __forceinline__ void multiply(float *d, unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
               "%64, %65, 1, 1, 1, 0, 0;"
               : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
               : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128 * (1 + CONSUMERS))
    wgmma_f16(int n, const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  const int thread = threadIdx.x, group = thread / 128, row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
  const int steps = n / DEPTH;
  if (thread == 0) {
    for (int stage = 0; stage < STAGES; stage++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[stage])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&empty[stage])), "r"(CONSUMERS * 128)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread == 0)
      for (int step = 0; step < steps; step++) {
        const int stage = step % STAGES, round = step / STAGES;
        const unsigned to = shared_address(tiles) + stage * 2 * TILE_BYTES, barrier = shared_address(&full[stage]);
        if (round > 0) wait(shared_address(&empty[stage]), round - 1 & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(2 * TILE_BYTES)
                     : "memory");
        copy(to, &A, step * DEPTH, row0, barrier);
        copy(to + TILE_BYTES, &B, step * DEPTH, column0, barrier);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64] = {};
  for (int step = 0; step < steps; step++) {
    const int stage = step % STAGES;
    const unsigned b = shared_address(tiles) + stage * 2 * TILE_BYTES + TILE_BYTES;
    const unsigned a = b - TILE_BYTES + (group - 1) * (TILE_BYTES / CONSUMERS);
    wait(shared_address(&full[stage]), step / STAGES & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < DEPTH / 16; k++) multiply(d, descriptor(a + 32 * k), descriptor(b + 32 * k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)::"memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[stage])) : "memory");
  }
  const int warp = thread % 128 / 32, lane = thread % 32, row = row0 + 64 * (group - 1) + 16 * warp + lane / 4;
  for (int i = 0; i < 64; i += 2) {
    const int column = column0 + i / 4 * 8 + lane % 4 * 2;
    *(float2 *)&C[(size_t)(row + 8 * (i / 2 % 2)) * n + column] = float2{d[i], d[i + 1]};
  }
}
