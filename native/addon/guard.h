#pragma once

/* Passes signals on to a program from now on, and ends this process soon after one has ended that. 0, or -errno. */
int guard_begin(int program, const char *socket_path);

/* The program has ended, and this process knows. */
void guard_end(void);
