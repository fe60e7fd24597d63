#pragma once

#include <stddef.h>

/* Passes signals on to a program from now on, and ends this process soon after one has ended that. 0, or -errno. */
int guard_begin(int program, const char *socket_path);

/*
 * Notes what is known so far, for the document on stdout: entries of the list `launches` (0), `reports` (1) or
 * `misuses` (2), or (none of these) that there is to be one. If the process ends here, it writes the document first.
 * Negative: -errno.
 */
int guard_note(int list, const char *entry, size_t length);

/* The program has ended, and this process knows. */
void guard_end(void);
