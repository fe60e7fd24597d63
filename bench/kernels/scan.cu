// Exclusive prefix sums: blocks scan 1024 elements with 512 threads (up and down a tree, after Blelloch), the sums of the
// blocks are scanned in the same way, and are added to what follows them
#define THREADS 512
extern "C" __global__ void scan_blocks(const unsigned *__restrict__ in, unsigned *__restrict__ out,
                                       unsigned *__restrict__ sums) {
  __shared__ unsigned tree[2 * THREADS];
  int t = threadIdx.x, first = blockIdx.x * (2 * THREADS);
  tree[t] = in[first + t];
  tree[t + THREADS] = in[first + t + THREADS];
  int stride = 1;
  for (int nodes = THREADS; nodes > 0; nodes >>= 1) {
    __syncthreads();
    if (t < nodes) tree[(2 * t + 2) * stride - 1] += tree[(2 * t + 1) * stride - 1];
    stride *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = tree[2 * THREADS - 1];
    tree[2 * THREADS - 1] = 0;
  }
  for (int nodes = 1; nodes <= THREADS; nodes *= 2) {
    stride >>= 1;
    __syncthreads();
    if (t < nodes) {
      int left = (2 * t + 1) * stride - 1, right = (2 * t + 2) * stride - 1;
      unsigned sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  __syncthreads();
  out[first + t] = tree[t];
  out[first + t + THREADS] = tree[t + THREADS];
}
extern "C" __global__ void scan_add(unsigned *__restrict__ out, const unsigned *__restrict__ sums) {
  int i = blockIdx.x * (2 * THREADS) + threadIdx.x;
  out[i] += sums[blockIdx.x];
  out[i + THREADS] += sums[blockIdx.x];
}
