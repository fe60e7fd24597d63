/*
 * Copies between the program's memory and the device's, within the program: it maps both, and copying through the server
 * takes twice as long.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "client.h"
#include "../old-glibc.h"

/* Linux 5.14 and later; older C libraries have no name for it. */
enum { populate_write = 23 };

enum { page = 4096, chunk = 0x10000 };

/* All of device memory, which the host may not touch where the program sees it. */
static unsigned char *window;
static pthread_once_t mapping = PTHREAD_ONCE_INIT;
/* Chunks of the window that have been copied to or from. Two threads may both find one new: that costs a little time. */
static volatile unsigned char is_used[LW_ARENA_BYTES / chunk];

static void map_window(void) {
  void *all = mmap(NULL, LW_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, lw_arena(), 0);
  if (all != MAP_FAILED) window = all;
}

/* Memory that is not mapped has to become an error of the call instead of a signal. */
static int is_mapped(const void *from, uint64_t bytes) {
  uint64_t begin = (uint64_t)(uintptr_t)from & ~(uint64_t)(page - 1);
  uint64_t end = ((uint64_t)(uintptr_t)from + bytes + page - 1) & ~(uint64_t)(page - 1);
  return msync((void *)(uintptr_t)begin, end - begin, MS_ASYNC) == 0;
}

/* Pages that nobody has touched come several times faster together than one by one. */
static void prepare(uint64_t offset, uint64_t bytes) {
  uint64_t end = (offset + bytes - 1) / chunk + 1;
  for (uint64_t i = offset / chunk; i < end; i++) {
    if (is_used[i]) continue;
    uint64_t first = i;
    while (i < end && !is_used[i]) is_used[i++] = 1;
    madvise(window + first * chunk, (i - first) * chunk, populate_write);
  }
}

int lw_copy(void *host, uint64_t offset, uint64_t bytes, int to_device) {
  pthread_once(&mapping, map_window);
  if (window == NULL || bytes == 0 || offset > LW_ARENA_BYTES || bytes > LW_ARENA_BYTES - offset) return -1;
  if (!is_mapped(host, bytes)) return -1;
  prepare(offset, bytes);
  memcpy(to_device ? window + offset : host, to_device ? host : window + offset, bytes);
  return 0;
}
