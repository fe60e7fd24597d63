/*
 * A program that is linked with the static runtime has its functions inside: a jump to ours is written over each of them
 * before anything calls it. They are found by the symbol table, which a stripped executable does not have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "client.h"
#include "../old-glibc.h"

/* mov $address, %rax; jmp *%rax */
enum { jump_bytes = 12 };

static void write_jump(uintptr_t at, const void *to) {
  unsigned char code[jump_bytes] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  memcpy(code + 2, &to, sizeof to);
  uintptr_t page = at & ~(uintptr_t)4095;
  size_t bytes = at + jump_bytes - page;
  if (mprotect((void *)page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  memcpy((void *)at, code, jump_bytes);
  mprotect((void *)page, bytes, PROT_READ | PROT_EXEC);
}

/* A file in memory. */
struct file {
  const unsigned char *bytes;
  size_t size;
};

static int open_file(const char *path, struct file *file) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  void *bytes = MAP_FAILED;
  off_t size = lseek(fd, 0, SEEK_END);
  if (size >= (off_t)sizeof(Elf64_Ehdr)) bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return -1;
  file->bytes = bytes;
  file->size = (size_t)size;
  return 0;
}

struct symbols {
  const Elf64_Sym *list;
  size_t count;
  const char *names;
  size_t names_size;
};

static int inside(const struct file *f, uint64_t at, uint64_t size) { return at <= f->size && size <= f->size - at; }

/* The symbol table of a file; none if it is stripped, or no 64-bit ELF file. */
static int symbols_of(const struct file *f, struct symbols *out) {
  const Elf64_Ehdr *header = (const void *)f->bytes;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return -1;
  if (!inside(f, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr))) return -1;
  const Elf64_Shdr *sections = (const void *)(f->bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr *s = &sections[i];
    if (s->sh_type != SHT_SYMTAB || s->sh_link >= header->e_shnum || !inside(f, s->sh_offset, s->sh_size)) continue;
    const Elf64_Shdr *names = &sections[s->sh_link];
    if (!inside(f, names->sh_offset, names->sh_size)) continue;
    *out = (struct symbols){(const void *)(f->bytes + s->sh_offset), s->sh_size / sizeof(Elf64_Sym),
                            (const char *)(f->bytes + names->sh_offset), names->sh_size};
    return 0;
  }
  return -1;
}

static const char *name_of(const struct symbols *s, const Elf64_Sym *symbol) {
  if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) return NULL;
  return symbol->st_name < s->names_size ? s->names + symbol->st_name : NULL;
}

static int is_runtime(const char *name) { return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0; }

/* Redirects the runtime inside of an object. Returns the number of functions. */
static int redirect(const struct symbols *s, uintptr_t base) {
  int done = 0;
  for (size_t i = 0; i < s->count; i++) {
    const Elf64_Sym *symbol = &s->list[i];
    const char *name = name_of(s, symbol);
    if (name == NULL || !is_runtime(name) || symbol->st_size < jump_bytes) continue;
    uint32_t index = lw_index_of(name);
    if (index >= lw_runtime_count) continue;
    write_jump(base + symbol->st_value, lw_entries[index].function);
    done++;
  }
  return done;
}

/* Registers the kernels of an object that is loaded late: its constructors ran before they could be redirected. */
static void register_again(const struct symbols *s, uintptr_t base) {
  for (size_t i = 0; i < s->count; i++) {
    const char *name = name_of(s, &s->list[i]);
    if (name == NULL || strstr(name, "__sti____cudaRegisterAll") == NULL) continue;
    ((void (*)(void))(base + s->list[i].st_value))();
  }
}

/* Objects that have been looked at. */
static uintptr_t *seen;
static size_t seen_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int was_seen(uintptr_t base) {
  for (size_t i = 0; i < seen_count; i++) {
    if (seen[i] == base) return 1;
  }
  uintptr_t *grown = realloc(seen, (seen_count + 1) * sizeof *seen);
  if (grown != NULL) {
    seen = grown;
    seen[seen_count++] = base;
  }
  return 0;
}

static void redirect_object(const char *path, uintptr_t base, int late) {
  struct file file;
  struct symbols symbols;
  if (open_file(path, &file) != 0) return;
  if (symbols_of(&file, &symbols) == 0 && redirect(&symbols, base) > 0 && late) register_again(&symbols, base);
  munmap((void *)(uintptr_t)file.bytes, file.size);
}

/* Objects that are there; the first of them is the executable. */
struct object {
  char *path;
  uintptr_t base;
  struct object *next;
};

static int collect(struct dl_phdr_info *info, size_t size, void *list) {
  (void)size;
  struct object *o = malloc(sizeof *o);
  if (o == NULL) return 1;
  o->path = strdup(info->dlpi_name != NULL && info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe");
  o->base = info->dlpi_addr;
  o->next = *(struct object **)list;
  *(struct object **)list = o;
  return 0;
}

static void redirect_all(int late) {
  struct object *list = NULL;
  dl_iterate_phdr(collect, &list);
  pthread_mutex_lock(&lock);
  while (list != NULL) {
    struct object *o = list;
    list = o->next;
    int skip = was_seen(o->base) || o->path == NULL || strstr(o->path, "/libc.so") || strstr(o->path, "/libstdc++");
    pthread_mutex_unlock(&lock);
    if (!skip) redirect_object(o->path, o->base, late);
    pthread_mutex_lock(&lock);
    free(o->path);
    free(o);
  }
  pthread_mutex_unlock(&lock);
}

static void *(*next_dlopen)(const char *, int);

__attribute__((visibility("default"))) void *dlopen(const char *path, int flags) {
  if (next_dlopen == NULL) *(void **)&next_dlopen = dlsym(RTLD_NEXT, "dlopen");
  void *handle = next_dlopen(path, flags);
  if (handle != NULL && path != NULL && getenv("LANEWISE_EXEC") != NULL) redirect_all(1);
  return handle;
}

static int (*next_dlclose)(void *);

/* What is loaded next may lie where the closed object was. */
__attribute__((visibility("default"))) int dlclose(void *handle) {
  if (next_dlclose == NULL) *(void **)&next_dlclose = dlsym(RTLD_NEXT, "dlclose");
  int result = next_dlclose(handle);
  struct object *list = NULL;
  dl_iterate_phdr(collect, &list);
  pthread_mutex_lock(&lock);
  size_t kept = 0;
  for (size_t i = 0; i < seen_count; i++) {
    for (struct object *o = list; o != NULL; o = o->next) {
      if (o->base != seen[i]) continue;
      seen[kept++] = seen[i];
      break;
    }
  }
  seen_count = kept;
  pthread_mutex_unlock(&lock);
  while (list != NULL) {
    struct object *o = list;
    list = o->next;
    free(o->path);
    free(o);
  }
  return result;
}

/*
 * Keeps the range of device addresses free. Where libraries happen to lie there, the program starts again without
 * randomized addresses.
 */
static void reserve_addresses(char **arguments) {
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
  void *wanted = (void *)(uintptr_t)LW_ARENA_BASE;
  void *got = mmap(wanted, LW_ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                   -1, 0);
  if (got == wanted) return;
  if (got != MAP_FAILED) munmap(got, LW_ARENA_BYTES);
  int old = personality(0xffffffff);
  if (old < 0 || (old & ADDR_NO_RANDOMIZE) || personality((unsigned long)old | ADDR_NO_RANDOMIZE) < 0) return;
  execv("/proc/self/exe", arguments);
}

__attribute__((constructor)) static void start(int count, char **arguments) {
  (void)count;
  if (getenv("LANEWISE_EXEC") == NULL) return;
  reserve_addresses(arguments);
  redirect_all(0);
}
