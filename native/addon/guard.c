/*
 * A kernel may keep the server's only thread for long. Signals still have to reach the program then, and when one has
 * ended the program, the kernel has no purpose any more: both is done here, apart from that thread.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_detach, pthread_detach@GLIBC_2.2.5");

enum { pidfd_open = 434, wait_for_pidfd = 3, grace_ms = 500, lists = 3 };

static struct {
  atomic_int program;
  int ended;
  /* Ready once the server has noticed the end itself. */
  int noticed[2];
  /* The socket, and the folder in which it lies. */
  char socket[512], folder[512];
} guard = {.ended = -1, .noticed = {-1, -1}};

/* What the document on stdout has in its lists, and whether there is to be one. */
static struct {
  pthread_mutex_t lock;
  bool wanted;
  struct {
    char *text;
    size_t used, room;
  } list[lists];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

int guard_note(int list, const char *entry, size_t length) {
  int result = 0;
  pthread_mutex_lock(&known.lock);
  known.wanted = true;
  if (list >= 0 && list < lists) {
    size_t used = known.list[list].used, room = known.list[list].room;
    size_t needed = used + length + 1;
    if (needed > room) {
      size_t more = needed > 2 * room ? needed : 2 * room;
      char *text = realloc(known.list[list].text, more);
      if (text == NULL) {
        result = -ENOMEM;
      } else {
        known.list[list].text = text;
        known.list[list].room = more;
      }
    }
    if (result == 0) {
      if (used > 0) known.list[list].text[used++] = ',';
      memcpy(known.list[list].text + used, entry, length);
      known.list[list].used = used + length;
    }
  }
  pthread_mutex_unlock(&known.lock);
  return result;
}

static void say(const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDOUT_FILENO, text, length);
    if (written < 0 && errno == EAGAIN) {
      struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
      poll(&out, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return;
    } else if (written > 0) {
      text += written;
      length -= (size_t)written;
    }
  }
}

static void say_list(const char *name, int list) {
  say(name, strlen(name));
  say("[", 1);
  say(known.list[list].text, known.list[list].used);
  say("]", 1);
}

/* Writes the document. It stays locked: nothing is written after it. */
static void say_what_is_known(int status) {
  pthread_mutex_lock(&known.lock);
  if (!known.wanted) return;
  char head[96];
  int length = snprintf(head, sizeof head, "{\"ok\":false,\"interrupted\":true,\"status\":%d", status);
  say(head, (size_t)length);
  say_list(",\"launches\":", 0);
  if (known.list[2].used > 0) say_list(",\"misuses\":", 2);
  say_list(",\"reports\":", 1);
  say("}\n", 2);
}

/* The terminal sends these to the program too, and it decides what they mean. */
static const int own[] = {SIGINT, SIGQUIT};
static const int passed[] = {SIGTERM, SIGHUP};

static void leave_alone(int number) { (void)number; }

static void pass_on(int number) {
  int saved = errno;
  pid_t program = atomic_load(&guard.program);
  if (program > 0) kill(program, number);
  errno = saved;
}

static void handle(const int *numbers, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  for (int i = 0; i < 2; i++) sigaction(numbers[i], &action, NULL);
}

static void *watch(void *nothing) {
  struct pollfd end = {guard.ended, POLLIN, 0};
  while (poll(&end, 1, -1) < 0 && errno == EINTR);
  siginfo_t how;
  memset(&how, 0, sizeof how);
  int found = waitid((idtype_t)wait_for_pidfd, (id_t)guard.ended, &how, WEXITED | WNOHANG | WNOWAIT);
  if (found != 0 || (how.si_code != CLD_KILLED && how.si_code != CLD_DUMPED)) return nothing;
  struct pollfd notice = {guard.noticed[0], POLLIN, 0};
  if (poll(&notice, 1, grace_ms) != 0) return nothing;
  unlink(guard.socket);
  rmdir(guard.folder);
  say_what_is_known(128 + how.si_status);
  _exit(128 + how.si_status);
}

int guard_begin(int program, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL || strlen(path) >= sizeof guard.socket) return -EINVAL;
  strcpy(guard.socket, path);
  memcpy(guard.folder, path, (size_t)(slash - path));
  guard.folder[slash - path] = 0;
  atomic_store(&guard.program, program);
  handle(own, leave_alone);
  handle(passed, pass_on);
  guard.ended = (int)syscall(pidfd_open, (pid_t)program, 0u);
  pthread_t thread;
  if (guard.ended < 0 || pipe(guard.noticed) != 0) return -errno;
  int failed = pthread_create(&thread, NULL, watch, NULL);
  if (!failed) pthread_detach(thread);
  return -failed;
}

void guard_end(void) {
  atomic_store(&guard.program, 0);
  handle(own, SIG_DFL);
  handle(passed, SIG_DFL);
  if (guard.noticed[1] >= 0 && write(guard.noticed[1], "", 1) < 0) return;
}
