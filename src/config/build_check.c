/* SPDX-License-Identifier: MIT
 * See build_check.h.
 */
#include "config/build_check.h"

#include <string.h>

#include "config/draft.h"

static bool
is_any_ipv4(const struct addr *a)
{
	return a->sa.sa_family == AF_INET &&
	       a->in.sin_addr.s_addr == htonl(INADDR_ANY);
}

static unsigned
port_of(const struct addr *a)
{
	struct endpoint e;

	endpoint_set(&e, &a->sa, a->len);
	return e.port;
}

/* `:80` opens 0.0.0.0:80 as well.  Port 0 is a new one each time. */
static bool
collide(const struct listen_spec *a, const struct listen_spec *b)
{
	char text_a[ADDR_TEXT_SIZE], text_b[ADDR_TEXT_SIZE];

	if (a->addr.sa.sa_family != AF_UNIX && port_of(&a->addr) == 0)
		return false;
	if ((a->both_families && is_any_ipv4(&b->addr)) ||
	    (b->both_families && is_any_ipv4(&a->addr)))
		return port_of(&a->addr) == port_of(&b->addr);
	/* The texts are equal for an IPv4 address and its form in IPv6. */
	return strcmp(addr_text(&a->addr, text_a),
	           addr_text(&b->addr, text_b)) == 0;
}

static void
add_error(struct err_list *errors, const struct listen_spec *l,
    const char *what, const char *first)
{
	char text[ADDR_TEXT_SIZE + 4] = "-l ";

	if (l->place.file)
		err_list_add(errors, l->place.file, l->place.line,
		    "listen: '%s' is %s%s; each address can be used once",
		    l->text, what, first);
	else
		err_list_add(errors, strncat(text, l->text, ADDR_TEXT_SIZE), 0,
		    "'%s' is %s%s; each address can be used once", l->text,
		    what, first);
}

/* Against those that stand before it. */
static void
check_listen(const struct spec *spec, const struct listen_spec *l,
    struct err_list *errors)
{
	char first[DRAFT_FIRST_SIZE];

	if (spec->global.admin && l->addr.sa.sa_family == AF_UNIX &&
	    strcmp(l->addr.un.sun_path, spec->global.admin) == 0)
		add_error(errors, l, "the admin socket's address", "");
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->listens_n; j++) {
			if (&f->listens[j] == l)
				return;
			if (!collide(&f->listens[j], l))
				continue;
			add_error(errors, l, "listened on already",
			    draft_first(f->listens[j].place, l->place, first));
			return;
		}
	}
}

/* The thread that a session is bound to gets its events from the leader. */
static void
check_association(const struct spec *spec, const struct frontend_spec *f,
    struct err_list *errors)
{
	const struct pool_spec *pool = &spec->pools[f->pool];

	if (f->bound && pool->promotion == PROMOTION_KERNEL)
		err_list_add(errors, f->place.file, f->place.line,
		    "[frontend %s]: association = bound needs a leader, and "
		    "[pool %s] has promotion = kernel; use unbound here, or "
		    "adaptive or always there",
		    f->name, pool->name);
}

void
build_check(const struct spec *spec, const char *file, bool empty,
    struct err_list *errors)
{
	if (empty)
		err_list_add(errors, file, 0,
		    "the file is empty or has comments only; it needs at "
		    "least a [frontend NAME] with 'listen' and 'backend', and "
		    "a "
		    "[backend NAME] with 'server'");
	if (!empty && spec->frontends_n == 0)
		err_list_add(errors, file, 0,
		    "there is no frontend; write a [frontend NAME] with "
		    "'listen' and 'backend'");
	if (!empty && spec->backends_n == 0)
		err_list_add(errors, file, 0,
		    "there is no backend; write a [backend NAME] with "
		    "'server'");
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		check_association(spec, f, errors);
		for (size_t j = 0; j < f->listens_n; j++)
			check_listen(spec, &f->listens[j], errors);
	}
}
