/* SPDX-License-Identifier: MIT
 * The pointers of the spec, in tables: how the spec is copied and freed.
 * Plain values need no row.  See spec.h.
 */
#include <stdlib.h>
#include <string.h>

#include "acl/recipe.h"
#include "model/spec.h"
#include "tls/context.h"

enum field_kind {
	FIELDS_END,
	FIELD_TEXT,    /* char *, or NULL */
	FIELD_PATTERN, /* struct pattern */
	FIELD_TRUST,   /* X509_STORE * */
	FIELD_CONTEXT, /* struct tls_context *, shared and counted */
	FIELD_RECIPE,  /* struct acl_recipe *, shared and counted */
	FIELD_CONTENT, /* struct acl_content * */
	FIELD_STRUCT,
	FIELD_ARRAY,    /* a pointer to the elements */
	FIELD_POINTERS, /* a pointer to pointers to the elements */
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
#define POINTERS(type, name, n, of_fields) \
	{.kind = FIELD_POINTERS, .offset = offsetof(struct type, name), \
	 .fields = of_fields, .n_offset = offsetof(struct type, n), \
	 .size = sizeof(**((struct type *)NULL)->name)}
#define END {.kind = FIELDS_END}
/* clang-format on */

static const struct field index_fields[] = {
    ARRAY(name_index, slots, slots_n, NULL), END};

/* The elements of an array of texts, and of one of patterns. */
static const struct field text_fields[] = {{.kind = FIELD_TEXT}, END};
static const struct field pattern_fields[] = {{.kind = FIELD_PATTERN}, END};

static const struct field log_fields[] = {FIELD(log_spec, TEXT, where),
    FIELD(log_spec, TEXT, host), FIELD(log_spec, TEXT, tag), END};

static const struct field log_list_fields[] = {
    ARRAY(log_list, logs, n, log_fields), END};

static const struct field listen_fields[] = {FIELD(listen_spec, TEXT, text),
    FIELD(listen_spec, TEXT, user), FIELD(listen_spec, TEXT, group), END};

static const struct field admin_fields[] = {FIELD(admin_spec, TEXT, text),
    FIELD(admin_spec, TEXT, user), FIELD(admin_spec, TEXT, group),
    FIELD(admin_spec, TEXT, operators), FIELD(admin_spec, TEXT, admins), END};

static const struct field admin_list_fields[] = {
    ARRAY(admin_list, all, n, admin_fields), END};

static const struct field http_fields[] = {PART(http_spec, at, listen_fields),
    FIELD(http_spec, TEXT, hosts), FIELD(http_spec, TEXT, users),
    FIELD(http_spec, TEXT, user_header), FIELD(http_spec, TEXT, header_from),
    END};

static const struct field global_fields[] = {
    PART(global_spec, admin, admin_list_fields),
    PART(global_spec, http, http_fields),
    PART(global_spec, log, log_list_fields),
    PART(global_spec, messages, log_list_fields),
    FIELD(global_spec, TEXT, user), FIELD(global_spec, TEXT, group),
    FIELD(global_spec, TEXT, chroot), FIELD(global_spec, TEXT, node),
    FIELD(global_spec, TEXT, info_name), FIELD(global_spec, TEXT, state_file),
    END};

static const struct field pool_fields[] = {FIELD(pool_spec, TEXT, name), END};

static const struct field list_use_fields[] = {
    FIELD(list_use, TEXT, name), END};

static const struct field ranges_fields[] = {ARRAY(rule_ranges, all, n, NULL),
    ARRAY(rule_ranges, lists, lists_n, list_use_fields), END};

static const struct field ports_fields[] = {
    ARRAY(rule_ports, all, n, NULL), END};

static const struct field rule_fields[] = {FIELD(rule_spec, TEXT, names),
    FIELD(rule_spec, TEXT, alpn), PART(rule_spec, src, ranges_fields),
    PART(rule_spec, dst, ranges_fields), PART(rule_spec, ports, ports_fields),
    END};

static const struct field access_fields[] = {
    FIELD(access_spec, TEXT, list_name), END};

static const struct field limit_fields[] = {
    FIELD(limit_spec, TEXT, together.name), FIELD(limit_spec, TEXT, only.name),
    FIELD(limit_spec, TEXT, except.name), FIELD(limit_spec, TEXT, table), END};

#define BAND_LIST(scope)                                                       \
	FIELD(bandwidth_spec, TEXT, lists[scope].only.name),                   \
	    FIELD(bandwidth_spec, TEXT, lists[scope].except.name)
static const struct field bandwidth_fields[] = {BAND_LIST(BAND_SESSION),
    BAND_LIST(BAND_PROXY), BAND_LIST(BAND_SERVER), BAND_LIST(BAND_SOURCE), END};
_Static_assert(
    BAND_SCOPES == 4, "bandwidth_fields has the lists of each scope");
#undef BAND_LIST

static const struct field frontend_fields[] = {FIELD(frontend_spec, TEXT, name),
    ARRAY(frontend_spec, listens, listens_n, listen_fields),
    ARRAY(frontend_spec, proxy_from, proxy_from_n, NULL),
    ARRAY(frontend_spec, access, access_n, access_fields),
    ARRAY(frontend_spec, limits, limits_n, limit_fields),
    PART(frontend_spec, bandwidth, bandwidth_fields),
    ARRAY(frontend_spec, routes, routes_n, NULL),
    ARRAY(frontend_spec, rules, rules_n, rule_fields),
    PART(frontend_spec, log, log_list_fields), END};

static const struct field step_fields[] = {
    FIELD(check_step, PATTERN, pattern), END};

static const struct field steps_fields[] = {
    ARRAY(check_steps, steps, n, step_fields), END};

static const struct field check_fields[] = {FIELD(check_spec, TEXT, path),
    FIELD(check_spec, TEXT, host), FIELD(check_spec, TEXT, method),
    FIELD(check_spec, TEXT, ca), FIELD(check_spec, TEXT, sni),
    FIELD(check_spec, TRUST, trust), FIELD(check_spec, TEXT, user),
    FIELD(check_spec, TEXT, hello),
    PART(check_spec, preset_steps, steps_fields), END};

static const struct field server_fields[] = {FIELD(server_spec, TEXT, name),
    FIELD(server_spec, TEXT, address), FIELD(server_spec, TEXT, host),
    FIELD(server_spec, TEXT, track), FIELD(server_spec, PATTERN, agent.send),
    FIELD(server_spec, TEXT, key), FIELD(server_spec, TEXT, note),
    FIELD(server_spec, TEXT, hash_name), END};

static const struct field set_fields[] = {FIELD(set_spec, TEXT, prefix),
    FIELD(set_spec, TEXT, source), FIELD(set_spec, TEXT, token),
    FIELD(set_spec, TEXT, ca), FIELD(set_spec, TEXT, cert),
    FIELD(set_spec, TEXT, key), PART(set_spec, member, server_fields), END};

static const struct field backend_fields[] = {FIELD(backend_spec, TEXT, name),
    PART(backend_spec, check, check_fields),
    PART(backend_spec, bandwidth, bandwidth_fields),
    ARRAY(backend_spec, check_headers, check_headers_n, text_fields),
    ARRAY(backend_spec, check_bodies, check_bodies_n, pattern_fields),
    PART(backend_spec, check_steps, steps_fields),
    FIELD(backend_spec, PATTERN, agent.send),
    FIELD(backend_spec, TEXT, check_command),
    FIELD(backend_spec, TEXT, server_defaults),
    POINTERS(backend_spec, servers, servers_n, server_fields),
    PART(backend_spec, servers_index, index_fields),
    ARRAY(backend_spec, sets, sets_n, set_fields),
    ARRAY(backend_spec, deleted, deleted_n, text_fields), END};

#define X(member) FIELD(tls_pair, TEXT, member),
static const struct field pair_fields[] = {TLS_PAIR_TEXTS(X) END};
#undef X

#define X(member) FIELD(tls_settings, TEXT, member),
static const struct field tls_settings_fields[] = {
    ARRAY(tls_settings, pairs, pairs_n, pair_fields),
    ARRAY(tls_settings, cert_dirs, cert_dirs_n, text_fields),
    TLS_SETTINGS_TEXTS(X) END};
#undef X

static const struct field tls_fields[] = {FIELD(tls_spec, TEXT, name),
    PART(tls_spec, settings, tls_settings_fields),
    FIELD(tls_spec, CONTEXT, context[TLS_ACCEPTS]),
    FIELD(tls_spec, CONTEXT, context[TLS_CONNECTS]), END};

static const struct field list_file_fields[] = {
    FIELD(list_file_spec, TEXT, path), FIELD(list_file_spec, TEXT, countries),
    END};

static const struct field list_fields[] = {FIELD(list_spec, TEXT, name),
    ARRAY(list_spec, entries, entries_n, NULL),
    ARRAY(list_spec, files, files_n, list_file_fields),
    FIELD(list_spec, RECIPE, recipe), FIELD(list_spec, CONTENT, content), END};

static const struct field resolver_fields[] = {
    ARRAY(resolver_spec, nameservers, nameservers_n, NULL), END};

static const struct field spec_fields[] = {
    ARRAY(spec, files, files_n, text_fields), PART(spec, global, global_fields),
    ARRAY(spec, pools, pools_n, pool_fields),
    PART(spec, pools_index, index_fields),
    ARRAY(spec, frontends, frontends_n, frontend_fields),
    PART(spec, frontends_index, index_fields),
    ARRAY(spec, backends, backends_n, backend_fields),
    PART(spec, backends_index, index_fields),
    ARRAY(spec, tls, tls_n, tls_fields), PART(spec, tls_index, index_fields),
    ARRAY(spec, lists, lists_n, list_fields),
    PART(spec, lists_index, index_fields),
    PART(spec, resolver, resolver_fields), END};

enum visit_kind { VISIT_COPY, VISIT_FREE };

/* The operations on all fields of an object. */
struct visit {
	enum visit_kind kind;
	/* VISIT_COPY: the object begins as a plain copy, whose parts then get
	 * memory of their own.  When memory runs out, ok becomes false and the
	 * visit goes on, so that the copy can be freed.  Only texts, patterns
	 * and arrays can be copied. */
	bool ok;
};

static void
visit_text(struct visit *v, char **text)
{
	if (v->kind == VISIT_FREE) {
		free(*text);
	} else if (*text) {
		*text = strdup(*text);
		v->ok &= *text != NULL;
	}
}

static void
visit_pattern(struct visit *v, struct pattern *pattern)
{
	struct pattern from = *pattern;

	if (v->kind == VISIT_COPY)
		v->ok &= pattern_copy(&from, pattern);
	else
		pattern_fini(pattern);
}

static void visit_fields(
    struct visit *v, void *object, const struct field *fields);

/* Visits an array.  The type of its elements is not known here, hence memcpy.
 */
static void
visit_array(struct visit *v, char *object, const struct field *f)
{
	size_t *n = (size_t *)(void *)(object + f->n_offset);
	char *array, *copy;

	memcpy(&array, object + f->offset, sizeof(array));
	if (v->kind == VISIT_COPY) {
		copy = calloc(*n + 1, f->size);
		v->ok &= copy != NULL;
		if (!copy)
			*n = 0;
		else if (*n > 0)
			memcpy(copy, array, *n * f->size);
		array = copy;
		memcpy(object + f->offset, &array, sizeof(array));
	}
	for (size_t i = 0; f->fields && i < *n; i++)
		visit_fields(v, array + i * f->size, f->fields);
	if (v->kind == VISIT_FREE)
		free(array);
}

/* Visits an array of pointers. */
static void
visit_pointers(struct visit *v, char *object, const struct field *f)
{
	size_t n = *(size_t *)(void *)(object + f->n_offset);
	void **array = *(void ***)(void *)(object + f->offset);

	for (size_t i = 0; i < n; i++) {
		if (array[i])
			visit_fields(v, array[i], f->fields);
		free(array[i]);
	}
	free(array);
}

/* Visits an object that is never copied. */
static void
visit_shared(const struct visit *v, enum field_kind kind, void *object)
{
	if (v->kind != VISIT_FREE)
		return;
	if (kind == FIELD_TRUST)
		trust_free(object);
	else if (kind == FIELD_CONTEXT)
		tls_context_unref(object);
	else if (kind == FIELD_RECIPE)
		acl_recipe_unref(object);
	else
		acl_content_free(object);
}

static void
visit_fields(struct visit *v, void *object, const struct field *fields)
{
	for (const struct field *f = fields; f->kind != FIELDS_END; f++) {
		void *at = (char *)object + f->offset;

		if (f->kind == FIELD_TEXT)
			visit_text(v, at);
		else if (f->kind == FIELD_PATTERN)
			visit_pattern(v, at);
		else if (f->kind == FIELD_STRUCT)
			visit_fields(v, at, f->fields);
		else if (f->kind == FIELD_ARRAY)
			visit_array(v, object, f);
		else if (f->kind == FIELD_POINTERS)
			visit_pointers(v, object, f);
		else
			visit_shared(v, f->kind, *(void **)at);
	}
}

bool
admin_list_copy(const struct admin_list *list, struct admin_list *ret_copy)
{
	struct admin_list copy = *list;
	struct visit v = {.kind = VISIT_COPY, .ok = true};

	visit_fields(&v, &copy, admin_list_fields);
	if (v.ok)
		*ret_copy = copy;
	else
		admin_list_clear(&copy);
	return v.ok;
}

bool
server_spec_copy(const struct server_spec *server, struct server_spec *ret_copy)
{
	struct server_spec copy = *server;
	struct visit v = {.kind = VISIT_COPY, .ok = true};

	visit_fields(&v, &copy, server_fields);
	if (v.ok)
		*ret_copy = copy;
	else
		server_spec_clear(&copy);
	return v.ok;
}

static void
free_fields(void *object, const struct field *fields)
{
	visit_fields(&(struct visit){.kind = VISIT_FREE}, object, fields);
}

void
check_spec_fini(struct check_spec *check)
{
	free_fields(check, check_fields);
}

void
log_list_clear(struct log_list *list)
{
	free_fields(list, log_list_fields);
	*list = (struct log_list){.n = 0};
}

void
admin_list_clear(struct admin_list *list)
{
	free_fields(list, admin_list_fields);
	*list = (struct admin_list){.n = 0};
}

void
listen_spec_clear(struct listen_spec *listen)
{
	free_fields(listen, listen_fields);
}

void
rule_spec_clear(struct rule_spec *rule)
{
	free_fields(rule, rule_fields);
}

/* Returns whether both copies have the same text, and forgets it.  Texts of
 * patterns say all about them. */
static bool
take_text(void *one, void *other, const struct field *f)
{
	bool is_pattern = f->kind == FIELD_PATTERN;
	size_t at =
	    f->offset + (is_pattern ? offsetof(struct pattern, text) : 0);
	const char *a = *(char **)(void *)((char *)one + at),
	           *b = *(char **)(void *)((char *)other + at);
	bool same = a && b ? strcmp(a, b) == 0 : a == b;
	size_t size = is_pattern ? sizeof(struct pattern) : sizeof(char *);

	memset((char *)one + f->offset, 0, size);
	memset((char *)other + f->offset, 0, size);
	return same;
}

bool
server_spec_equal(const struct server_spec *a, const struct server_spec *b)
{
	struct server_spec x, y;

	/* Bytes between the members are 0 in all specs. */
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	memset(&x.place, 0, sizeof(x.place));
	memset(&y.place, 0, sizeof(y.place));
	for (const struct field *f = server_fields; f->kind != FIELDS_END; f++)
		if (!take_text(&x, &y, f))
			return false;
	return memcmp(&x, &y, sizeof(x)) == 0;
}

void
server_spec_clear(struct server_spec *server)
{
	free_fields(server, server_fields);
}

void
server_spec_free(struct server_spec *server)
{
	if (!server)
		return;
	server_spec_clear(server);
	free(server);
}

void
set_spec_clear(struct set_spec *set)
{
	free_fields(set, set_fields);
}

void
spec_free(struct spec *spec)
{
	if (!spec)
		return;
	free_fields(spec, spec_fields);
	free(spec);
}
