/* SPDX-License-Identifier: MIT
 * A place in the configuration. See spec.h.
 */
#ifndef MODEL_SPEC_PLACE_H
#define MODEL_SPEC_PLACE_H

/* A place in the configuration, for messages; file is NULL for the command
 * line. */
struct spec_place {
	const char *file; /* borrowed from the spec */
	unsigned line;
};

#endif
