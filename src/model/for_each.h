/* SPDX-License-Identifier: MIT
 * Loops over frontends, backends and servers.
 */
#ifndef MODEL_FOR_EACH_H
#define MODEL_FOR_EACH_H

#include "model/model.h"

/* f is a struct frontend *, b a struct backend *, s a struct server *. */
#define model_for_each_frontend(f, model)                                      \
	for (struct frontend **f##_at = (model)->frontends, *f;                \
	     (f = *f##_at) != NULL; f##_at++)
#define model_for_each_backend(b, model)                                       \
	for (struct backend **b##_at = (model)->backends, *b;                  \
	     (b = *b##_at) != NULL; b##_at++)
#define backend_for_each_server(s, backend)                                    \
	for (struct server **s##_at = (backend)->servers, *s;                  \
	     (s = *s##_at) != NULL; s##_at++)

/* `break` does not leave this loop, so a body returns instead. */
#define model_for_each_server(s, model)                                        \
	model_for_each_backend (s##_backend, model)                            \
		backend_for_each_server (s, s##_backend)

/* b is a const struct backend_spec *, s a const struct server_spec *; the same
 * holds for `break`. */
#define spec_for_each_server(b, s, spec)                                       \
	for (const struct backend_spec *b = (spec)->backends;                  \
	     b < (spec)->backends + (spec)->backends_n; b++)                   \
		for (const struct server_spec *s = b->servers;                 \
		     s < b->servers + b->servers_n; s++)

#endif
