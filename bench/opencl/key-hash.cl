kernel void key_hash(int n, global const uchar *restrict keys, global uint *restrict hashes) {
  int i = get_global_id(0);
  if (i >= n) return;
  global const uchar *key = keys + 24 * i;
  uint hash = 0;
  for (int word = 0; word < 6; ++word) {
    uint k = key[4 * word] | key[4 * word + 1] << 8 | key[4 * word + 2] << 16 | key[4 * word + 3] << 24;
    hash ^= rotate(k * 0xcc9e2d51u, 15u) * 0x1b873593u;
    hash = rotate(hash, 13u) * 5 + 0xe6546b64u;
  }
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  hashes[i] = hash ^ hash >> 13;
}
