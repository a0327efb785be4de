/* SPDX-License-Identifier: MIT
 * Loops over the servers of all backends.  `continue` goes on with the next
 * server; `break` does not leave the loop, so a body returns instead.
 */
#ifndef MODEL_FOR_EACH_H
#define MODEL_FOR_EACH_H

#include "model/model.h"

/* s is a struct server *. */
#define model_for_each_server(s, model)                                        \
	for (size_t s##_b = 0; s##_b < (model)->spec->backends_n; s##_b++)     \
		for (size_t s##_i = 0;                                         \
		     s##_i < (model)->spec->backends[s##_b].servers_n;         \
		     s##_i++)                                                  \
			for (struct server *s =                                \
			         (model)->backends[s##_b]->servers[s##_i];     \
			     s; s = NULL)

/* b is a const struct backend_spec *, s a const struct server_spec *. */
#define spec_for_each_server(b, s, spec)                                       \
	for (const struct backend_spec *b = (spec)->backends;                  \
	     b < (spec)->backends + (spec)->backends_n; b++)                   \
		for (const struct server_spec *s = b->servers;                 \
		     s < b->servers + b->servers_n; s++)

#endif
