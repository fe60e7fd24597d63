// Fourier transforms of 256 complex numbers, one a block: a thread does a butterfly of each stage
#define POINTS 256
extern "C" __global__ void fft(const float2 *__restrict__ in, const float2 *__restrict__ twiddles,
                               float2 *__restrict__ out) {
  __shared__ float2 data[POINTS];
  int t = threadIdx.x, base = blockIdx.x * POINTS;
  data[__brev(t) >> 24] = in[base + t];
  data[__brev(t + POINTS / 2) >> 24] = in[base + t + POINTS / 2];
  __syncthreads();
  for (int half = 1; half < POINTS; half *= 2) {
    int k = t & (half - 1), i = 2 * t - k;
    float2 w = twiddles[k * (POINTS / 2 / half)], a = data[i], b = data[i + half];
    float re = b.x * w.x - b.y * w.y, im = b.x * w.y + b.y * w.x;
    data[i] = make_float2(a.x + re, a.y + im);
    data[i + half] = make_float2(a.x - re, a.y - im);
    __syncthreads();
  }
  out[base + t] = data[t];
  out[base + t + POINTS / 2] = data[t + POINTS / 2];
}
