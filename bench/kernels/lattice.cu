// Values of options, each by a block that walks a lattice back; a thread keeps four nodes in registers
#define THREADS 128
#define NODES 4
extern "C" __global__ void lattice(float up, float down, float step, const float *__restrict__ price,
                                   float *__restrict__ value) {
  __shared__ float first[THREADS + 1];
  int t = threadIdx.x;
  float s = price[blockIdx.x], node[NODES];
  for (int k = 0; k < NODES; ++k) node[k] = fmaxf(s + step * (2 * (t * NODES + k) - THREADS * NODES), 0.0f);
  if (t == 0) first[THREADS] = 0.0f;
  for (int round = THREADS * NODES; round > 0; --round) {
    first[t] = node[0];
    __syncthreads();
    float next = first[t + 1];
    __syncthreads();
    for (int k = 0; k < NODES - 1; ++k) node[k] = up * node[k + 1] + down * node[k];
    node[NODES - 1] = up * next + down * node[NODES - 1];
  }
  if (t == 0) value[blockIdx.x] = node[0];
}
