#define EMPTY 0xffffffffu
static uint place(uint key, uint mask) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  return key * 0xc2b2ae35u >> 7 & mask;
}
kernel void fill(int n, uint mask, global const uint *restrict keys, global uint *table, global uint *count) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint key = keys[i];
  for (uint at = place(key, mask);; at = (at + 1) & mask) {
    uint old = atomic_cmpxchg(&table[at], EMPTY, key);
    if (old == EMPTY || old == key) {
      atomic_inc(&count[at]);
      return;
    }
  }
}
kernel void look_up(int n, uint mask, global const uint *restrict keys, global const uint *restrict table,
                    global const uint *restrict count, global uint *restrict found) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint key = keys[i], at = place(key, mask);
  while (table[at] != key && table[at] != EMPTY) at = (at + 1) & mask;
  found[i] = table[at] == key ? count[at] : 0;
}
