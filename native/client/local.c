/* Errors and addresses of functions: what needs no server. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "local.h"

/* Generated from names/errors.txt, sorted by number. */
struct lw_error {
  uint32_t number;
  const char *runtime;
  const char *driver;
  const char *text;
};
extern const struct lw_error lw_errors[];
extern const uint32_t lw_error_count;

static const struct lw_error *error_of(uint32_t number) {
  for (uint32_t i = 0; i < lw_error_count; i++) {
    if (lw_errors[i].number == number) return &lw_errors[i];
  }
  return NULL;
}

static uint32_t last_error(void) {
  if (lw_last_error != 0) return lw_last_error;
  return lw_is_connected() ? lw_header()->sticky : 0;
}

uint64_t lw_local_last_error(const uint64_t *r, const uint64_t *stack) {
  (void)r;
  (void)stack;
  uint32_t error = last_error();
  lw_last_error = 0;
  return error;
}

uint64_t lw_local_peek_error(const uint64_t *r, const uint64_t *stack) {
  (void)r;
  (void)stack;
  return last_error();
}

static const char unknown[] = "unrecognized error code";

static uint64_t text(const char *t) { return (uint64_t)(uintptr_t)t; }

uint64_t lw_local_error_name(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  const struct lw_error *e = error_of((uint32_t)r[0]);
  return text(e != NULL && e->runtime[0] != '\0' ? e->runtime : unknown);
}

uint64_t lw_local_error_string(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  const struct lw_error *e = error_of((uint32_t)r[0]);
  return text(e != NULL && e->runtime[0] != '\0' ? e->text : unknown);
}

static uint64_t driver_text(const uint64_t *r, int name) {
  const struct lw_error *e = error_of((uint32_t)r[0]);
  int known = e != NULL && e->driver[0] != '\0';
  if (r[1] == 0) return 1;
  *(const char **)(uintptr_t)r[1] = !known ? NULL : name ? e->driver : e->text;
  return known ? 0 : 1;
}

uint64_t lw_local_driver_error_name(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  return driver_text(r, 1);
}

uint64_t lw_local_driver_error_string(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  return driver_text(r, 0);
}

/* Returns a structure of five words of 32 bits by way of a hidden first argument. */
uint64_t lw_local_channel(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  uint32_t *out = (uint32_t *)(uintptr_t)r[0];
  for (int i = 0; i < 5; i++) out[i] = (uint32_t)r[1 + i];
  return r[0];
}

/* function, offset, and a float in %xmm0: the server gets its bits as a third word. */
uint64_t lw_local_param_float(const uint64_t *r, const uint64_t *stack) {
  const uint64_t words[6] = {r[0], r[1], (uint32_t)r[6]};
  return lw_call(lw_index_of("cuParamSetf"), words, stack);
}

/* Generated from names/versions.txt. */
struct lw_form {
  const char *name;
  uint32_t since;
};
extern const struct lw_form lw_forms[];
extern const uint32_t lw_form_count;

static uint32_t since(const char *name) {
  for (uint32_t i = 0; i < lw_form_count; i++) {
    if (strcmp(lw_forms[i].name, name) == 0) return lw_forms[i].since;
  }
  return 0;
}

/* The newest form of a driver's function that is not newer than the version asked for: it has the highest number. */
static void *driver_function(const char *symbol, uint32_t version, int per_thread) {
  char name[160];
  static const char *const versions[] = {"_v4", "_v3", "_v2", ""};
  static const char *const kinds[] = {"_ptsz", "_ptds", ""};
  if (strncmp(symbol, "cu", 2) != 0 || strlen(symbol) > 100) return NULL;
  for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
    snprintf(name, sizeof name, "%s%s", symbol, versions[v]);
    if (since(name) > version) continue;
    size_t length = strlen(name);
    for (unsigned k = per_thread ? 0 : 2; k < 3; k++) {
      snprintf(name + length, sizeof name - length, "%s", kinds[k]);
      void *found = lw_function_of(name);
      if (found != NULL) return found;
    }
  }
  return NULL;
}

enum { flag_per_thread = 2, symbol_not_found = 1, version_not_sufficient = 2, version_of_runtime = 13000 };

/* r: symbol, pointer */
static uint64_t find_entry(const uint64_t *r, uint64_t version, uint64_t flags, int *status) {
  const char *symbol = (const char *)(uintptr_t)r[0];
  void **out = (void **)(uintptr_t)r[1];
  if (symbol == NULL || out == NULL) return 1;
  int per_thread = (flags & flag_per_thread) != 0;
  *out = driver_function(symbol, (uint32_t)version, per_thread);
  int is_later = *out == NULL && driver_function(symbol, UINT32_MAX, per_thread) != NULL;
  if (status != NULL) *status = *out != NULL ? 0 : is_later ? version_not_sufficient : symbol_not_found;
  return *out != NULL || status != NULL ? 0 : 500;
}

/* symbol, pointer, flags, status: a missing function is no error of the runtime's form, the status says it. */
uint64_t lw_local_driver_entry(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  return find_entry(r, version_of_runtime, r[2], (int *)(uintptr_t)r[3]);
}

/* symbol, pointer, version, flags, status */
uint64_t lw_local_driver_entry_by_version(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  return find_entry(r, r[2], r[3], (int *)(uintptr_t)r[4]);
}

/* symbol, pointer, version, flags */
uint64_t lw_local_proc_address(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  return find_entry(r, r[2], r[3], NULL);
}

uint64_t lw_local_proc_address_status(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  uint64_t found = find_entry(r, r[2], r[3], (int *)(uintptr_t)r[4]);
  return found == 0 && *(void **)(uintptr_t)r[1] == NULL ? 500 : found;
}
