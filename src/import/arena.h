/* SPDX-License-Identifier: MIT
 * Memory of one conversion: allocated piece by piece, freed as a whole.
 *
 * A conversion runs in a command of its own, so the program ends with a message
 * and status 2 when memory is short.
 */
#ifndef IMPORT_ARENA_H
#define IMPORT_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero is empty. */
struct arena {
	struct arena_piece *last;
};

/* Frees all pieces, and makes the arena empty. */
void arena_fini(struct arena *arena);

/* Returns n zeroed bytes, which live as long as the arena. */
void *arena_alloc(struct arena *arena, size_t n);

/* Returns a copy of the first n bytes of s, NUL-terminated. */
char *arena_copy(struct arena *arena, const char *s, size_t n);

/* Returns the formatted text. */
char *arena_printf(struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Does what arena_printf does, with a va_list. */
char *arena_vprintf(struct arena *arena, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A growing string in an arena; all zero is empty, with data NULL. */
struct arena_text {
	char *data; /* n bytes and a NUL */
	size_t n, room;
};

/* Appends n bytes of s. */
void arena_text_add(
    struct arena *arena, struct arena_text *text, const char *s, size_t n);

/* Appends the formatted text. */
void arena_text_printf(struct arena *arena, struct arena_text *text,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Makes room for one more element of `size` bytes in an array of n elements.
 * Returns the array, which moves when n is zero or a power of two. */
void *arena_grow(struct arena *arena, void *array, size_t n, size_t size);

#endif
