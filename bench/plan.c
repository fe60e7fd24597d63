#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 1000 };

void fail(const char *what, const char *which) {
  fprintf(stderr, "%s: %s\n", what, which);
  exit(1);
}

static void read_file(const char *path, void *data, size_t bytes) {
  FILE *file = fopen(path, "rb");
  if (!file || fread(data, 1, bytes, file) != bytes) fail("cannot read", path);
  fclose(file);
}

static void read_buffer(FILE *file, struct buffer *buffer) {
  char mode[NAME];
  if (fscanf(file, "%63s %zu %63s", buffer->name, &buffer->bytes, mode) != 3) fail("plan", "buffer");
  buffer->mode = strcmp(mode, "in") == 0 ? IN : strcmp(mode, "out") == 0 ? OUT : INOUT;
  // Whole cache lines, so that vectors are aligned.
  size_t room = (buffer->bytes + 63) / 64 * 64;
  buffer->data = aligned_alloc(64, room);
  if (!buffer->data) fail("no memory for", buffer->name);
  memset(buffer->data, 0, room);
  if (buffer->mode == OUT) return;
  read_file(buffer->name, buffer->data, buffer->bytes);
  if (buffer->mode == IN) return;
  buffer->initial = malloc(buffer->bytes);
  if (!buffer->initial) fail("no memory for", buffer->name);
  memcpy(buffer->initial, buffer->data, buffer->bytes);
}

static void read_launch(FILE *file, struct launch *launch) {
  size_t *g = launch->global, *l = launch->local;
  int read = fscanf(file, "%63s %zu %zu %zu %zu %zu %zu %d", launch->kernel, g, g + 1, g + 2, l, l + 1, l + 2,
                    &launch->arguments);
  if (read != 8 || launch->arguments > MAX_ARGUMENTS) fail("plan", "launch");
  for (int i = 0; i < launch->arguments; ++i) {
    struct argument *argument = &launch->argument[i];
    if (fscanf(file, " %c %lf", &argument->type, &argument->number) != 2) fail("plan", launch->kernel);
  }
}

struct plan *plan_read(void) {
  FILE *file = fopen("plan", "r");
  if (!file) fail("cannot read", "plan");
  struct plan *plan = calloc(1, sizeof *plan);
  char word[NAME];
  while (fscanf(file, "%63s", word) == 1) {
    if (strcmp(word, "runs") == 0) {
      if (fscanf(file, "%d %lf", &plan->runs, &plan->milliseconds) != 2) fail("plan", word);
    } else if (strcmp(word, "sizes") == 0) {
      for (int i = 0; i < MAX_SIZES && fscanf(file, "%lf", &plan->sizes[i]) == 1; ++i) continue;
    } else if (strcmp(word, "buffer") == 0 && plan->buffers < MAX_BUFFERS) {
      read_buffer(file, &plan->buffer[plan->buffers++]);
    } else if (strcmp(word, "launch") == 0) {
      plan->launch = realloc(plan->launch, (plan->launches + 1) * sizeof *plan->launch);
      read_launch(file, &plan->launch[plan->launches++]);
    } else {
      fail("plan", word);
    }
  }
  fclose(file);
  return plan;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

void plan_measure(const struct plan *plan, void (*reset)(void *), void (*run)(void *), void *context) {
  double begin = 0;
  printf("[");
  // The first run, which warms up, is not printed.
  for (int i = 0; i <= plan->runs || (now() - begin < plan->milliseconds && i <= MAX_RUNS); ++i) {
    reset(context);
    double start = now();
    run(context);
    double end = now();
    if (i == 0) begin = end;
    else printf(i == 1 ? "%.6f" : ", %.6f", end - start);
  }
  printf("]\n");
}

void plan_save(const struct plan *plan) {
  for (int i = 0; i < plan->buffers; ++i) {
    const struct buffer *buffer = &plan->buffer[i];
    if (buffer->mode == IN) continue;
    char path[NAME + 4];
    snprintf(path, sizeof path, "%s.out", buffer->name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(buffer->data, 1, buffer->bytes, file) != buffer->bytes) fail("cannot write", path);
    fclose(file);
  }
}
