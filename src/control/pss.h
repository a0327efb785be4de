/* SPDX-License-Identifier: MIT
 * The process's proportional share of memory (PSS), which the kernel finds out
 * by walking all page tables: milliseconds, so a thread of its own asks.
 *
 * One at a time, however many want to know.
 */
#ifndef CONTROL_PSS_H
#define CONTROL_PSS_H

#include <stdbool.h>
#include <stdint.h>

struct pss {
	uint64_t bytes; /* 0: the kernel does not tell, or no thread began */
	uint64_t took_us;
};

/* Control thread, as both: begins a reading, unless one is under way.  Its
 * number. */
uint64_t pss_ask(void);

/* False: that reading is not there yet. */
bool pss_read(uint64_t number, struct pss *ret_pss);

#endif
