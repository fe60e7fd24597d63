#define LENGTH 6
constant uchar pattern[LENGTH] = {2, 0, 1, 2, 0, 3};
kernel void substring(int n, global const uchar *restrict text, global uchar *restrict found) {
  int i = get_global_id(0);
  if (i >= n) return;
  int same = 0;
  if (i + LENGTH <= n)
    while (same < LENGTH && text[i + same] == pattern[same]) ++same;
  found[i] = same == LENGTH;
}
