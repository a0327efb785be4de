/* SPDX-License-Identifier: MIT
 * The cells: each is one way in which a session ends, see ends.c.
 *
 * The program makes all cells.  A process of its own plays each; it writes what
 * is wrong into the cell, which is in shared memory, and ends.
 */
#ifndef TOOLS_ENDS_CELL_H
#define TOOLS_ENDS_CELL_H

#include "tools/tool.h"

enum side { CLIENT, SERVER };
enum action { FIN, RST, FIN_RST, SILENCE, CUT, ALERT, GARBAGE, ACTIONS };
#define TCP_ACTIONS CUT /* the first that only TLS has */
enum context { IDLE, MID_STREAM, FULL, UNREAD, CONTEXTS };

extern const char *const policy_names[2];

#define CELLS_MAX 512
#define SILENT_MS 3000 /* of the timers that end silent sessions */

struct cell {
	enum side x;
	enum action action;
	enum context context;
	unsigned mode, policy;
	unsigned tls; /* bit 0: on the client's side, bit 1: on the server's */
	char name[64];
	int listener;
	pid_t pid;
	unsigned port;   /* of the listener, then of the frontend */
	char wrong[160]; /* empty: all is well; written by the cell's process */
};

extern struct cell *cells;
extern unsigned cells_n;
extern char certificate[96]; /* file, with its key */
extern unsigned patience;    /* factor of all times */

/* The cell that this process plays. */
extern struct cell *me;

/* Makes the cells that are played, each with a listener for its server. */
void cells_make(void);

/* Notes that this process plays the cell, from now on within a time limit. */
void cell_begin(struct cell *cell);

/* Notes what is wrong with the cell, and ends the process. */
_Noreturn void cell_wrong(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* Ends the process as cell_wrong does if the time is over while it waits for
 * what. */
void cell_in_time(const char *what);

#endif
