// The best local alignments of many pairs of short texts: a block a pair, a thread a letter of the first, a barrier a
// diagonal; of the scores only three diagonals are kept
#define LENGTH 64
extern "C" __global__ void local_alignment(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                           int *__restrict__ best) {
  __shared__ int score[3][LENGTH + 1];
  __shared__ unsigned char other[LENGTH];
  __shared__ int highest[LENGTH];
  int t = threadIdx.x, pair = blockIdx.x, most = 0;
  unsigned char letter = a[pair * LENGTH + t];
  other[t] = b[pair * LENGTH + t];
  for (int row = 0; row < 3; ++row) {
    score[row][t + 1] = 0;
    if (t == 0) score[row][0] = 0;
  }
  __syncthreads();
  for (int diagonal = 0; diagonal < 2 * LENGTH - 1; ++diagonal) {
    int *now = score[diagonal % 3], *before = score[(diagonal + 2) % 3], *earlier = score[(diagonal + 1) % 3];
    int x = diagonal - t;
    if (x >= 0 && x < LENGTH) {
      int match = earlier[t] + (letter == other[x] ? 3 : -1);
      now[t + 1] = max(max(match, 0), max(before[t], before[t + 1]) - 2);
      most = max(most, now[t + 1]);
    }
    __syncthreads();
  }
  highest[t] = most;
  __syncthreads();
  for (int half = LENGTH / 2; half > 0; half /= 2) {
    if (t < half) highest[t] = max(highest[t], highest[t + half]);
    __syncthreads();
  }
  if (t == 0) best[pair] = highest[0];
}
