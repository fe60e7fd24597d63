// How many steps random walks take until they leave a band, negative for those that leave it below; each has a
// generator of its own (xorshift)
extern "C" __global__ void random_walks(int n, int band, const unsigned *__restrict__ seeds, int *__restrict__ steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = seeds[i] | 1;
  int at = 0, count = 0;
  while (at > -band && at < band) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    at += state >> 31 ? 1 : -1;
    ++count;
  }
  steps[i] = at > 0 ? count : -count;
}
