/* SPDX-License-Identifier: MIT
 * The bit mixer that the whole project uses.
 */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

/* Returns the successor of x in a pseudorandom sequence that may start at any
 * number: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014).  Every bit of the result depends on all bits of x. */
static inline uint64_t
mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Moves the state on to its successor and returns a random r, 0 <= r < 1. */
static inline double
mix64_share(uint64_t *state)
{
	*state = mix64(*state);
	return (double)(*state >> 11) / (double)(1ull << 53);
}

#endif
