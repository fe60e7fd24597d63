kernel void luminance(int n, global const uchar *restrict rgb, global uchar *restrict grey) {
  int i = get_global_id(0);
  if (i < n) grey[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}
