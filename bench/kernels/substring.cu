// Where a pattern in constant memory begins in a text: a thread compares from one position on, until letters differ
#define LENGTH 6
__constant__ unsigned char pattern[LENGTH] = {2, 0, 1, 2, 0, 3};
extern "C" __global__ void substring(int n, const unsigned char *__restrict__ text,
                                     unsigned char *__restrict__ found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int same = 0;
  if (i + LENGTH <= n)
    while (same < LENGTH && text[i + same] == pattern[same]) ++same;
  found[i] = same == LENGTH;
}
