// Attention with an online softmax, of halves: a warp has 16 queries; keys and values come in tiles by cp.async, and both
// products are mma.
#include <cuda_fp16.h>

constexpr int WIDTH = 64, KEYS = 64, QUERIES = 64, THREADS = 128;

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(unsigned to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

template <bool TRANSPOSED>
__device__ __forceinline__ void load4(unsigned *r, unsigned at) {
  if (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ __forceinline__ void multiply(float *d, const unsigned *a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pack(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *(const unsigned *)&both;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention(int n, const __half *Q, const __half *K, const __half *V, float *O) {
  // Rows are 16 bytes longer, so that eight of them lie in different banks.
  __shared__ __align__(16) __half keys[KEYS][WIDTH + 8], values[KEYS][WIDTH + 8], queries[QUERIES][WIDTH + 8];
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, first = blockIdx.x * QUERIES;
  for (int i = thread; i < QUERIES * WIDTH / 8; i += THREADS) {
    const int row = i / (WIDTH / 8), column = i % (WIDTH / 8) * 8;
    copy16(shared_address(&queries[row][column]), Q + (size_t)(first + row) * WIDTH + column);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  unsigned q[WIDTH / 16][4];
  for (int k = 0; k < WIDTH / 16; k++)
    load4<false>(q[k], shared_address(&queries[warp * 16 + lane % 16][k * 16 + lane / 16 * 8]));
  // Of two rows for each lane: the largest score so far, and the sum of exponentials.
  float out[WIDTH / 8][4] = {}, largest[2] = {-1e30f, -1e30f}, sum[2] = {};
  for (int key = 0; key < n; key += KEYS) {
    __syncthreads();
    for (int i = thread; i < KEYS * WIDTH / 8; i += THREADS) {
      const int row = i / (WIDTH / 8), column = i % (WIDTH / 8) * 8;
      copy16(shared_address(&keys[row][column]), K + (size_t)(key + row) * WIDTH + column);
      copy16(shared_address(&values[row][column]), V + (size_t)(key + row) * WIDTH + column);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    float score[KEYS / 8][4] = {};
    for (int k = 0; k < WIDTH / 16; k++)
      for (int j = 0; j < KEYS / 16; j++) {
        unsigned b[4];
        load4<false>(b, shared_address(&keys[j * 16 + lane / 16 * 8 + lane % 8][k * 16 + lane / 8 % 2 * 8]));
        multiply(score[2 * j], q[k], b[0], b[1]);
        multiply(score[2 * j + 1], q[k], b[2], b[3]);
      }
    for (int half = 0; half < 2; half++) {
      float most = largest[half];
      for (int j = 0; j < KEYS / 8; j++)
        for (int e = 0; e < 2; e++) most = fmaxf(most, score[j][2 * half + e] *= 0.125f * 1.44269504f);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      const float factor = exp2f(largest[half] - most);
      float part = 0;
      for (int j = 0; j < KEYS / 8; j++)
        for (int e = 0; e < 2; e++) part += score[j][2 * half + e] = exp2f(score[j][2 * half + e] - most);
      part += __shfl_xor_sync(~0u, part, 1);
      part += __shfl_xor_sync(~0u, part, 2);
      sum[half] = sum[half] * factor + part;
      largest[half] = most;
      for (int j = 0; j < WIDTH / 8; j++) {
        out[j][2 * half] *= factor;
        out[j][2 * half + 1] *= factor;
      }
    }
    for (int k = 0; k < KEYS / 16; k++) {
      unsigned p[4];
      for (int i = 0; i < 4; i++) p[i] = pack(score[2 * k + i / 2][i % 2 * 2], score[2 * k + i / 2][i % 2 * 2 + 1]);
      for (int j = 0; j < WIDTH / 16; j++) {
        unsigned b[4];
        load4<true>(b, shared_address(&values[k * 16 + lane % 16][j * 16 + lane / 16 * 8]));
        multiply(out[2 * j], p, b[0], b[1]);
        multiply(out[2 * j + 1], p, b[2], b[3]);
      }
    }
  }
  for (int half = 0; half < 2; half++)
    for (int j = 0; j < WIDTH / 8; j++)
      for (int e = 0; e < 2; e++)
        O[(size_t)(first + warp * 16 + lane / 4 + 8 * half) * WIDTH + j * 8 + lane % 4 * 2 + e] =
            out[j][2 * half + e] / sum[half];
}
