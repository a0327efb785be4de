/* SPDX-License-Identifier: MIT
 * The pointers of the spec, in tables: how the spec is copied, freed and
 * measured.  Plain values need no row.  See spec.h.
 */
#include <stdlib.h>
#include <string.h>

#include "model/spec.h"

enum field_kind {
	FIELDS_END,
	FIELD_TEXT,    /* char *, or NULL */
	FIELD_PLACE,   /* struct spec_place */
	FIELD_PATTERN, /* struct pattern */
	FIELD_TRUST,   /* X509_STORE *, shared and counted */
	FIELD_STRUCT,
	FIELD_ARRAY, /* a pointer to the elements */
};

struct field {
	enum field_kind kind;
	size_t offset;
	const struct field *fields; /* of the struct or of an element */
	size_t n_offset;            /* of the number of elements */
	size_t size;                /* of an element */
};

/* clang-format off */
#define FIELD(type, of_kind, name) \
	{.kind = FIELD_##of_kind, .offset = offsetof(struct type, name)}
#define PART(type, name, of_fields) \
	{.kind = FIELD_STRUCT, .offset = offsetof(struct type, name), \
	 .fields = of_fields}
#define ARRAY(type, name, n, of_fields) \
	{.kind = FIELD_ARRAY, .offset = offsetof(struct type, name), \
	 .fields = of_fields, .n_offset = offsetof(struct type, n), \
	 .size = sizeof(*((struct type *)NULL)->name)}
#define END {.kind = FIELDS_END}
/* clang-format on */

/* The elements of an array of texts, and of one of patterns. */
static const struct field text_fields[] = {{.kind = FIELD_TEXT}, END};
static const struct field pattern_fields[] = {{.kind = FIELD_PATTERN}, END};

static const struct field log_fields[] = {FIELD(log_spec, PLACE, place),
    FIELD(log_spec, TEXT, where), FIELD(log_spec, TEXT, host),
    FIELD(log_spec, TEXT, tag), END};

static const struct field log_list_fields[] = {
    ARRAY(log_list, logs, n, log_fields), END};

static const struct field listen_fields[] = {FIELD(listen_spec, PLACE, place),
    FIELD(listen_spec, TEXT, text), FIELD(listen_spec, TEXT, user),
    FIELD(listen_spec, TEXT, group), END};

static const struct field admin_fields[] = {FIELD(admin_spec, PLACE, place),
    FIELD(admin_spec, TEXT, text), FIELD(admin_spec, TEXT, user),
    FIELD(admin_spec, TEXT, group), FIELD(admin_spec, TEXT, operators),
    FIELD(admin_spec, TEXT, admins), END};

static const struct field admin_list_fields[] = {
    ARRAY(admin_list, all, n, admin_fields), END};

static const struct field global_fields[] = {
    PART(global_spec, admin, admin_list_fields),
    PART(global_spec, http, listen_fields),
    FIELD(global_spec, TEXT, http_hosts),
    PART(global_spec, log, log_list_fields), FIELD(global_spec, TEXT, user),
    FIELD(global_spec, TEXT, group), FIELD(global_spec, TEXT, node),
    FIELD(global_spec, TEXT, info_name), END};

static const struct field pool_fields[] = {
    FIELD(pool_spec, PLACE, place), FIELD(pool_spec, TEXT, name), END};

static const struct field route_fields[] = {
    FIELD(route_spec, PLACE, place), END};

static const struct field sni_fields[] = {
    FIELD(sni_spec, PLACE, place), FIELD(sni_spec, TEXT, names), END};

static const struct field frontend_fields[] = {
    FIELD(frontend_spec, PLACE, place), FIELD(frontend_spec, TEXT, name),
    ARRAY(frontend_spec, listens, listens_n, listen_fields),
    ARRAY(frontend_spec, proxy_from, proxy_from_n, NULL),
    ARRAY(frontend_spec, routes, routes_n, route_fields),
    ARRAY(frontend_spec, sni, sni_n, sni_fields),
    PART(frontend_spec, log, log_list_fields), END};

static const struct field step_fields[] = {
    FIELD(check_step, PATTERN, pattern), END};

static const struct field steps_fields[] = {
    ARRAY(check_steps, steps, n, step_fields), END};

static const struct field check_fields[] = {FIELD(check_spec, TEXT, path),
    FIELD(check_spec, TEXT, host), FIELD(check_spec, TEXT, method),
    FIELD(check_spec, TEXT, ca), FIELD(check_spec, TEXT, sni),
    FIELD(check_spec, TRUST, trust), FIELD(check_spec, TEXT, user),
    PART(check_spec, preset_steps, steps_fields), END};

static const struct field server_fields[] = {FIELD(server_spec, PLACE, place),
    FIELD(server_spec, TEXT, name), FIELD(server_spec, TEXT, address),
    FIELD(server_spec, TEXT, host), FIELD(server_spec, TEXT, track),
    FIELD(server_spec, PATTERN, agent.send), END};

static const struct field backend_fields[] = {FIELD(backend_spec, PLACE, place),
    FIELD(backend_spec, TEXT, name), PART(backend_spec, check, check_fields),
    ARRAY(backend_spec, check_headers, check_headers_n, text_fields),
    ARRAY(backend_spec, check_bodies, check_bodies_n, pattern_fields),
    PART(backend_spec, check_steps, steps_fields),
    FIELD(backend_spec, PATTERN, agent.send),
    FIELD(backend_spec, TEXT, check_command),
    FIELD(backend_spec, TEXT, server_defaults),
    ARRAY(backend_spec, servers, servers_n, server_fields),
    ARRAY(backend_spec, deleted, deleted_n, text_fields), END};

static const struct field spec_fields[] = {
    ARRAY(spec, files, files_n, text_fields), PART(spec, global, global_fields),
    ARRAY(spec, pools, pools_n, pool_fields),
    ARRAY(spec, frontends, frontends_n, frontend_fields),
    ARRAY(spec, backends, backends_n, backend_fields), END};

static void *
field_at(void *object, const struct field *f)
{
	return (char *)object + f->offset;
}

/* The array and its length, whatever the type of its elements. */
static char *
field_array(void *object, const struct field *f, size_t *ret_n)
{
	char *array;

	memcpy(&array, field_at(object, f), sizeof(array));
	*ret_n = *(size_t *)(void *)((char *)object + f->n_offset);
	return array;
}

static void
set_array(void *object, const struct field *f, void *array, size_t n)
{
	memcpy(field_at(object, f), &array, sizeof(array));
	*(size_t *)(void *)((char *)object + f->n_offset) = n;
}

/* -- copying -- */

/* files: those of the original, as the places name them, and of the copy. */
struct copying {
	char *const *from_files, *const *to_files;
	size_t files_n;
	bool ok;
};

static void
copying_copy_text(struct copying *c, char **text)
{
	if (!*text)
		return;
	*text = strdup(*text);
	c->ok &= *text != NULL;
}

static void
copy_place(const struct copying *c, struct spec_place *place)
{
	for (size_t i = 0; i < c->files_n; i++)
		if (place->file == c->from_files[i]) {
			place->file = c->to_files[i];
			return;
		}
}

static void
copy_pattern(struct copying *c, struct pattern *pattern)
{
	struct pattern from = *pattern;

	c->ok &= pattern_copy(&from, pattern);
}

static void copy_fields(
    struct copying *c, void *object, const struct field *fields);

static void
copy_array(struct copying *c, void *object, const struct field *f)
{
	size_t n;
	const char *from = field_array(object, f, &n);
	char *to = calloc(n + 1, f->size);

	c->ok &= to != NULL;
	if (!to)
		n = 0;
	else if (n > 0)
		memcpy(to, from, n * f->size);
	set_array(object, f, to, n);
	for (size_t i = 0; f->fields && i < n; i++)
		copy_fields(c, to + i * f->size, f->fields);
}

/* Gives the object, which begins as a plain copy, memory of its own; all of it,
 * also when memory has run out on the way, so that the object can be freed. */
static void
copy_fields(struct copying *c, void *object, const struct field *fields)
{
	for (const struct field *f = fields; f->kind != FIELDS_END; f++) {
		void *at = field_at(object, f);

		if (f->kind == FIELD_TEXT)
			copying_copy_text(c, at);
		else if (f->kind == FIELD_PLACE)
			copy_place(c, at);
		else if (f->kind == FIELD_PATTERN)
			copy_pattern(c, at);
		else if (f->kind == FIELD_TRUST)
			(void)trust_ref(*(X509_STORE **)at);
		else if (f->kind == FIELD_STRUCT)
			copy_fields(c, at, f->fields);
		else
			copy_array(c, object, f);
	}
}

struct spec *
spec_copy(const struct spec *spec)
{
	struct spec *to = malloc(sizeof(*to));
	struct copying c = {.from_files = spec->files, .ok = true};

	if (!to)
		return NULL;
	*to = *spec;
	/* Files come first: places need them. */
	copy_array(&c, to, &spec_fields[0]);
	c.to_files = to->files;
	c.files_n = to->files_n;
	copy_fields(&c, to, &spec_fields[1]);
	for (size_t i = 0; i < to->backends_n; i++)
		to->backends[i].servers_room = to->backends[i].servers_n;
	if (c.ok)
		return to;
	spec_free(to);
	return NULL;
}

bool
admin_list_copy(const struct admin_list *list, struct admin_list *ret_copy)
{
	struct admin_list copy = *list;
	struct copying c = {.ok = true};

	copy_fields(&c, &copy, admin_list_fields);
	if (c.ok)
		*ret_copy = copy;
	else
		admin_list_clear(&copy);
	return c.ok;
}

/* -- freeing and measuring -- */

/* Frees the block or, with `use`, counts it. */
static void
visit_block(void *block, struct memory_use *use)
{
	if (use)
		memory_add_block(use, block);
	else
		free(block);
}

static void
visit_pattern(struct pattern *pattern, struct memory_use *use)
{
	if (!use) {
		pattern_fini(pattern);
		return;
	}
	memory_add_block(use, pattern->text);
	memory_add_block(use, pattern->bytes);
}

/* Frees what the fields own or, with `use`, counts it. */
static void
visit_fields(void *object, const struct field *fields, struct memory_use *use)
{
	for (const struct field *f = fields; f->kind != FIELDS_END; f++) {
		void *at = field_at(object, f);

		if (f->kind == FIELD_TEXT) {
			visit_block(*(char **)at, use);
		} else if (f->kind == FIELD_PATTERN) {
			visit_pattern(at, use);
		} else if (f->kind == FIELD_TRUST && !use) {
			trust_free(*(X509_STORE **)at);
		} else if (f->kind == FIELD_STRUCT) {
			visit_fields(at, f->fields, use);
		} else if (f->kind == FIELD_ARRAY) {
			size_t n;
			char *array = field_array(object, f, &n);

			for (size_t i = 0; f->fields && i < n; i++)
				visit_fields(
				    array + i * f->size, f->fields, use);
			visit_block(array, use);
		}
	}
}

void
check_spec_fini(struct check_spec *check)
{
	visit_fields(check, check_fields, NULL);
}

void
log_list_clear(struct log_list *list)
{
	visit_fields(list, log_list_fields, NULL);
	*list = (struct log_list){.n = 0};
}

void
admin_list_clear(struct admin_list *list)
{
	visit_fields(list, admin_list_fields, NULL);
	*list = (struct admin_list){.n = 0};
}

void
listen_spec_clear(struct listen_spec *listen)
{
	visit_fields(listen, listen_fields, NULL);
}

void
server_spec_clear(struct server_spec *server)
{
	visit_fields(server, server_fields, NULL);
}

void
spec_free(struct spec *spec)
{
	if (!spec)
		return;
	visit_fields(spec, spec_fields, NULL);
	free(spec);
}

void
spec_memory(const struct spec *spec, struct memory_use *use)
{
	struct spec fields = *spec;

	use->count++;
	memory_add_block(use, spec);
	visit_fields(&fields, spec_fields, use);
}
