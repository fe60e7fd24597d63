// Hashes of keys of 24 bytes, each read a byte at a time
extern "C" __global__ void key_hash(int n, const unsigned char *__restrict__ keys, unsigned *__restrict__ hashes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char *key = keys + 24 * i;
  unsigned hash = 0;
  for (int word = 0; word < 6; ++word) {
    unsigned k = key[4 * word] | key[4 * word + 1] << 8 | key[4 * word + 2] << 16 | key[4 * word + 3] << 24;
    k *= 0xcc9e2d51u;
    k = k << 15 | k >> 17;
    hash ^= k * 0x1b873593u;
    hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
  }
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  hashes[i] = hash ^ hash >> 13;
}
