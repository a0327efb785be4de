/* SPDX-License-Identifier: MIT
 * Room in an array that is appended to, one element at a time.
 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more in an array of n elements from malloc (NULL: none so
 * far) that has room for *room; doubles it, so that n appends copy no more than
 * 2 n elements.  Returns the array; NULL without memory, and all is as it was.
 */
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
