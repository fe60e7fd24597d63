// C = A B, A in rows and B in columns, by products in tensor cores: three stages of tiles come by cp.async, ldmatrix takes
// them from shared memory, where blocks of 16 bytes are permuted, so that eight rows lie in different banks.

constexpr int TILE = 128, STAGES = 3, THREADS = 256;
// Of a row of a tile.
constexpr int ROW_BYTES = 64;

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(unsigned to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void load4(unsigned *r, unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

// Where a block of 16 bytes lies.
__device__ __forceinline__ unsigned block_at(unsigned base, int row, int block) {
  return base + row * ROW_BYTES + ((block ^ (row >> 1 & 3)) << 4);
}

// Pair: two sums that are stored together. `multiply` adds a product of 16 rows, 32 bytes and 8 columns.
template <typename Element, typename Sum, typename Pair>
__device__ __forceinline__ void multiply_matrices(int n, const Element *A, const Element *B, Sum *C) {
  constexpr int DEPTH = ROW_BYTES / sizeof(Element), BLOCK = 16 / sizeof(Element);
  __shared__ __align__(128) Element tiles[STAGES][2][TILE * DEPTH];
  const unsigned base = shared_address(tiles);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE, steps = n / DEPTH;
  const unsigned matrix_bytes = TILE * ROW_BYTES;
  auto load = [&](int step) {
    const unsigned a = base + step % STAGES * 2 * matrix_bytes, b = a + matrix_bytes;
    for (int i = thread; i < TILE * 4; i += THREADS) {
      const int row = i / 4, block = i % 4;
      copy16(block_at(a, row, block), A + (size_t)(row0 + row) * n + step * DEPTH + block * BLOCK);
      copy16(block_at(b, row, block), B + (size_t)(column0 + row) * n + step * DEPTH + block * BLOCK);
    }
  };
  for (int step = 0; step < STAGES - 1; step++) {
    if (step < steps) load(step);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // A warp has 64 rows and 32 columns.
  Sum d[4][4][4] = {};
  const int row = warp / 4 * 64, column = warp % 4 * 32;
  for (int step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    if (step + STAGES - 1 < steps) load(step + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const unsigned a = base + step % STAGES * 2 * matrix_bytes, b = a + matrix_bytes;
    for (int k = 0; k < ROW_BYTES / 32; k++) {
      unsigned fa[4][4], fb[2][4];
      for (int i = 0; i < 4; i++) load4(fa[i], block_at(a, row + 16 * i + lane % 16, 2 * k + lane / 16));
      for (int j = 0; j < 2; j++)
        load4(fb[j], block_at(b, column + 16 * j + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) multiply(d[i][j], fa[i], &fb[j / 2][j % 2 * 2]);
    }
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int half = 0; half < 2; half++) {
        const int r = row0 + row + 16 * i + lane / 4 + 8 * half, c = column0 + column + 8 * j + lane % 4 * 2;
        *(Pair *)&C[(size_t)r * n + c] = Pair{d[i][j][2 * half], d[i][j][2 * half + 1]};
      }
}
