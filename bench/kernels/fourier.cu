// Fourier transforms of 256 complex numbers, a block of 128 threads each: eight steps between two arrays
#define POINTS 256
extern "C" __global__ void fourier(const float2 *__restrict__ in, float2 *__restrict__ out) {
  __shared__ float2 values[2][POINTS];
  int t = threadIdx.x, half = POINTS / 2, base = blockIdx.x * POINTS, from = 0;
  values[0][t] = in[base + t];
  values[0][t + half] = in[base + t + half];
  __syncthreads();
  for (int size = 1; size < POINTS; size *= 2, from = 1 - from) {
    int k = t & (size - 1), to = 2 * (t - k) + k;
    float sine, cosine;
    __sincosf(-3.14159265f * k / size, &sine, &cosine);
    float2 a = values[from][t], b = values[from][t + half];
    float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    values[1 - from][to] = make_float2(a.x + turned.x, a.y + turned.y);
    values[1 - from][to + size] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  out[base + t] = values[from][t];
  out[base + t + half] = values[from][t + half];
}
