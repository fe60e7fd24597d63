// How often each of some keys occurs, by a table with open addressing that all threads fill
#define EMPTY 0xffffffffu

__device__ unsigned place(unsigned key, unsigned mask) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  return key * 0xc2b2ae35u >> 7 & mask;
}

extern "C" __global__ void fill(int n, unsigned mask, const unsigned *__restrict__ keys, unsigned *table,
                                unsigned *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i];
  for (unsigned at = place(key, mask);; at = (at + 1) & mask) {
    unsigned old = atomicCAS(&table[at], EMPTY, key);
    if (old == EMPTY || old == key) {
      atomicAdd(&count[at], 1);
      return;
    }
  }
}

extern "C" __global__ void look_up(int n, unsigned mask, const unsigned *__restrict__ keys,
                                   const unsigned *__restrict__ table, const unsigned *__restrict__ count,
                                   unsigned *__restrict__ found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], at = place(key, mask);
  while (table[at] != key && table[at] != EMPTY) at = (at + 1) & mask;
  found[i] = table[at] == key ? count[at] : 0;
}
