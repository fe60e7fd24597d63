/* What is known of kernels: a table by the addresses of their host functions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

struct known {
  uint64_t function;
  struct lw_kernel *kernel; /* NULL: forgotten */
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *table;
static size_t capacity, count;

static struct known *find(struct known *in, size_t size, uint64_t function) {
  size_t i = (function >> 4) * 0x9e3779b97f4a7c15ull % size;
  while (in[i].function != 0 && in[i].function != function) i = (i + 1) % size;
  return &in[i];
}

static int grow(void) {
  size_t size = capacity == 0 ? 64 : 2 * capacity;
  struct known *grown = calloc(size, sizeof *grown);
  if (grown == NULL) return -1;
  for (size_t i = 0; i < capacity; i++) {
    if (table[i].function != 0) *find(grown, size, table[i].function) = table[i];
  }
  free(table);
  table = grown;
  capacity = size;
  return 0;
}

void lw_learn(uint64_t function, const struct lw_kernel *kernel, uint32_t bytes) {
  pthread_mutex_lock(&table_lock);
  if (2 * (count + 1) <= capacity || grow() == 0) {
    struct known *entry = find(table, capacity, function);
    if (entry->function == 0) count++;
    entry->function = function;
    free(entry->kernel);
    entry->kernel = malloc(bytes);
    if (entry->kernel != NULL) memcpy(entry->kernel, kernel, bytes);
  }
  pthread_mutex_unlock(&table_lock);
}

void lw_forget(uint64_t function) {
  pthread_mutex_lock(&table_lock);
  if (capacity != 0) {
    struct known *entry = find(table, capacity, function);
    free(entry->kernel);
    entry->kernel = NULL;
  }
  pthread_mutex_unlock(&table_lock);
}

const struct lw_kernel *lw_hold_kernel(uint64_t function) {
  pthread_mutex_lock(&table_lock);
  return capacity == 0 ? NULL : find(table, capacity, function)->kernel;
}

void lw_release_kernel(void) { pthread_mutex_unlock(&table_lock); }
