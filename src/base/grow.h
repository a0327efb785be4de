/* SPDX-License-Identifier: MIT
 * Room in an array that is appended to, one element at a time.
 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more element in an array from malloc, NULL at first, which
 * has n elements of that size and room for *room.  Doubles the room, so that n
 * appends copy no more than 2 n elements.  Returns the array, or NULL when
 * memory is short; then nothing has changed. */
static inline void *
grow(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = n < 4 ? 4 : 2 * n;
	void *grown;

	if (n < *room)
		return array;
	grown = reallocarray(array, more, size);
	if (grown)
		*room = more;
	return grown;
}

#endif
