// A correlation of two rows, each with a halo of its own in shared memory
#define BLOCK 256
#define REACH 4
extern "C" __global__ void two_halos(int n, const float *__restrict__ u, const float *__restrict__ v,
                                     float *__restrict__ out) {
  __shared__ float su[BLOCK + 2 * REACH], sv[BLOCK + 2 * REACH];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  su[t + REACH] = u[i];
  sv[t + REACH] = v[i];
  if (t < REACH) {
    su[t] = i >= REACH ? u[i - REACH] : 0.0f;
    sv[t] = i >= REACH ? v[i - REACH] : 0.0f;
    su[t + BLOCK + REACH] = i + BLOCK < n ? u[i + BLOCK] : 0.0f;
    sv[t + BLOCK + REACH] = i + BLOCK < n ? v[i + BLOCK] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int d = -REACH; d <= REACH; ++d) sum += su[t + REACH + d] * sv[t + REACH - d];
  out[i] = sum;
}
