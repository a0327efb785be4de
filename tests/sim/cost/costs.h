/* SPDX-License-Identifier: MIT
 * The costs of operations: a table that is read from a file.
 *
 * A line of the file is a name, a whole number and its unit; what follows # is
 * where the number comes from.  Every cost of COSTS_TABLE is there once.
 */
#ifndef SIM_COST_COSTS_H
#define SIM_COST_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* The field and what it stands for.  All are times in ns. */
#define COSTS_TABLE(X)                                                         \
	X(load, "a load of a shared word whose line is in this CPU's cache")   \
	X(write, "an atomic read-modify-write, or store, of such a word")      \
	X(line_transfer, "bringing a cache line from another CPU")             \
	X(relax, "one round of a spin loop")                                   \
	X(clock, "reading the clock")                                          \
	X(system_call, "a system call that finds nothing to do")               \
	X(wake_call,                                                           \
	    "for the waker: a call that wakes a thread on an idle CPU")        \
	X(wake_queued, "the same, if the thread has to wait for a CPU")        \
	X(wake_delay, "from that call until the thread runs on an idle CPU")   \
	X(thread_switch, "for a thread: to stop waiting and run")              \
	X(wait_call, "epoll_wait(2) without events")                           \
	X(wait_event, "each event that it returns")                            \
	X(event_write, "a write to an eventfd, no thread waits")               \
	X(turn, "a turn of a session: a read and a write of a small message")  \
	X(turn_serial, "of this, what no two CPUs do at a time")               \
	X(turn_move, "added to a turn after one on another CPU")               \
	X(accept, "accepting a connection")                                    \
	X(connect, "connecting it to its server, and closing both")            \
	X(guard, "a look of the guard, once in a millisecond")                 \
	X(slice, "time that a thread keeps its CPU if others want it")         \
	X(balance, "until an idle CPU takes a thread that waits for another")  \
	X(client, "the lab's load, for each request: on the same CPUs")        \
	X(server, "the lab's server, for each request: on the same CPUs")

struct costs {
#define FIELD(name, what) uint64_t name##_ns;
	COSTS_TABLE(FIELD)
#undef FIELD
};

/* Reads the file.  Returns false, and prints to stderr what is wrong, if it
 * cannot be read, or if a cost is missing, unknown, given twice or malformed.
 */
bool costs_read(const char *path, struct costs *ret_costs);

/* Sets one cost from `NAME=NS`, or `NAME=xFACTOR` for a multiple of what it is,
 * as in turn=5000 or line_transfer=x2.5.  Returns false if the text is neither.
 */
bool costs_set(struct costs *costs, const char *text);

/* Prints a line of the file. */
void costs_print(const char *name, uint64_t ns, const char *from);

#endif
