/* Calls of entry points: those that the server answers, and the few that are answered here. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "old-glibc.h"

uint32_t lw_index_of(const char *name) {
  for (uint32_t i = 0; i < lw_entry_count; i++) {
    if (strcmp(lw_entries[i].name, name) == 0) return i;
  }
  return lw_entry_count;
}

void *lw_function_of(const char *name) {
  uint32_t i = lw_index_of(name);
  return i < lw_entry_count ? lw_entries[i].function : NULL;
}

enum { not_ready = 600 };

/* The driver has the runtime's numbers where both have the error. That something is not ready is none. */
static uint64_t note(uint32_t index, uint64_t result) {
  if (index < lw_runtime_count && result != 0 && result != not_ready) lw_last_error = (uint32_t)result;
  return result;
}

uint64_t lw_call(uint32_t index, const uint64_t *registers, const uint64_t *stack) {
  uint64_t words[LW_CALL_WORDS + LW_CALL_FRAMES];
  memcpy(words, registers, 6 * sizeof *words);
  memcpy(words + 6, stack, (LW_CALL_WORDS - 6) * sizeof *words);
  int problem = lw_connect();
  if (problem != 0) return note(index, (uint64_t)problem);
  int frames = lw_header()->stacks ? backtrace((void **)(uintptr_t)(words + LW_CALL_WORDS), LW_CALL_FRAMES) : 0;
  return note(index, lw_request(index, words, (LW_CALL_WORDS + (uint32_t)frames) * (uint32_t)sizeof *words));
}

uint64_t lw_call_named(const char *name, const uint64_t words[6]) {
  static const uint64_t none[LW_CALL_WORDS];
  return lw_call(lw_index_of(name), words, none);
}

void lw_print_to_stdout(const char *text, size_t bytes) {
  fwrite(text, 1, bytes, stdout);
}

/* The thread that runs what cudaLaunchHostFunc and its like were given. */
struct callback {
  /* 0: function(data), 1: function(stream, status, data), 2: the program is to end the thread,
     3: function(data, status, message, its length) */
  uint64_t kind;
  uint64_t function;
  uint64_t data;
  uint64_t stream;
  uint64_t status;
  char message[LW_MESSAGE_BYTES];
};

static void *run_callbacks(void *unused) {
  (void)unused;
  for (;;) {
    struct callback call = {0};
    uint64_t words[LW_CALL_WORDS] = {(uint64_t)(uintptr_t)&call};
    lw_request(LW_CALLBACK, words, sizeof words);
    if (call.kind == 2) return NULL;
    void *data = (void *)(uintptr_t)call.data;
    if (call.kind == 0) {
      ((void (*)(void *))(uintptr_t)call.function)(data);
    } else if (call.kind == 3) {
      ((void (*)(void *, int, char *, size_t))(uintptr_t)call.function)(data, (int)call.status, call.message,
                                                                        strlen(call.message));
    } else {
      ((void (*)(void *, int, void *))(uintptr_t)call.function)((void *)(uintptr_t)call.stream, (int)call.status, data);
    }
  }
}

void lw_start_callbacks(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int started;
  pthread_mutex_lock(&lock);
  pthread_t thread;
  if (!started && pthread_create(&thread, NULL, run_callbacks, NULL) == 0) {
    started = 1;
    pthread_detach(thread);
  }
  pthread_mutex_unlock(&lock);
}
