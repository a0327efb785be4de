/* SPDX-License-Identifier: MIT
 * The places of cache lines, for the cost of operations on shared words:
 * hooks.h leads here when SIM_COSTS is defined.
 *
 * A line is in no cache, in those of some CPUs (shared), or was written by one
 * (owned).  A write makes it owned; a read by another CPU makes it shared.  A
 * line that several CPUs want travels to one after the other.
 */
#ifndef SIM_COST_CACHE_H
#define SIM_COST_CACHE_H

/* The calling thread reads, or writes, the word at p.  It runs on after the
 * time that this takes; other threads may run before. */
void cache_read(const volatile void *p);
void cache_write(const volatile void *p);

#endif
