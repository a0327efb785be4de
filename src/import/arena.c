/* SPDX-License-Identifier: MIT
 * See arena.h.
 */
#include "import/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define PIECE_SIZE 16384

struct arena_piece {
	struct arena_piece *before;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

static void
end_without_memory(void)
{
	fputs("lfproxyctl: out of memory\n", stderr);
	exit(EX_OSERR);
}

void
arena_fini(struct arena *arena)
{
	while (arena->last) {
		struct arena_piece *before = arena->last->before;

		free(arena->last);
		arena->last = before;
	}
}

void *
arena_alloc(struct arena *arena, size_t n)
{
	struct arena_piece *piece = arena->last;
	size_t align = _Alignof(max_align_t);
	void *bytes;

	if (n > SIZE_MAX / 2)
		end_without_memory();
	n = (n + align - 1) / align * align;
	if (!piece || piece->size - piece->used < n) {
		size_t size = n > PIECE_SIZE ? n : PIECE_SIZE;

		piece = calloc(1, sizeof(*piece) + size);
		if (!piece)
			end_without_memory();
		piece->size = size;
		piece->before = arena->last;
		arena->last = piece;
	}
	bytes = piece->bytes + piece->used;
	piece->used += n;
	return bytes;
}

char *
arena_copy(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, n + 1);

	if (n > 0)
		memcpy(copy, s, n);
	return copy;
}

char *
arena_vprintf(struct arena *arena, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n < 0)
		end_without_memory();
	text = arena_alloc(arena, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return text;
}

char *
arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = arena_vprintf(arena, fmt, args);
	va_end(args);
	return text;
}

void
arena_text_add(
    struct arena *arena, struct arena_text *text, const char *s, size_t n)
{
	if (text->room - text->n < n + 1 || !text->data) {
		size_t room = (text->n + n + 1) * 2;
		char *data = arena_alloc(arena, room);

		if (text->n > 0)
			memcpy(data, text->data, text->n);
		text->data = data;
		text->room = room;
	}
	if (n > 0)
		memcpy(text->data + text->n, s, n);
	text->n += n;
	text->data[text->n] = '\0';
}

void
arena_text_printf(
    struct arena *arena, struct arena_text *text, const char *fmt, ...)
{
	va_list args;
	char *more;

	va_start(args, fmt);
	more = arena_vprintf(arena, fmt, args);
	va_end(args);
	arena_text_add(arena, text, more, strlen(more));
}

void *
arena_grow(struct arena *arena, void *array, size_t n, size_t size)
{
	void *larger;

	if (n > 0 && (n & (n - 1)) != 0)
		return array;
	larger = arena_alloc(arena, (n > 0 ? 2 * n : 1) * size);
	if (n > 0)
		memcpy(larger, array, n * size);
	return larger;
}
