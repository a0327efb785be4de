/* SPDX-License-Identifier: MIT
 * HAProxy's use_backend with an expression: `%[req.ssl_sni,map(FILE,DEFAULT)]`,
 * or `PREFIX%[req.ssl_sni]`.
 */
#include <string.h>

#include "import/haproxy_rules.h"

static bool
is_sni(const char *expression)
{
	return strncmp(expression, "req.ssl_sni", 11) == 0 ||
	       strncmp(expression, "req_ssl_sni", 11) == 0 ||
	       strncmp(expression, "ssl_fc_sni", 10) == 0;
}

/* Adds a rule with a test for the value behind the rule.  Returns the new rule.
 */
static struct hap_rule *
insert_test(struct hap_proxy *proxy, struct hap_rule *behind,
    enum test_kind kind, const char *value, const char *target)
{
	struct arena *arena = &proxy->file->doc->arena;
	struct hap_rule *rule = arena_alloc(arena, sizeof(*rule));
	struct hap_test test = {.kind = kind};

	*rule = *behind;
	rule->target = target;
	rule->condition = (struct hap_condition){
	    arena_alloc(arena, sizeof(struct hap_term)), 1};
	words_add(arena, &test.values, value);
	rule->condition.terms[0].tests = arena_alloc(arena, sizeof(test));
	rule->condition.terms[0].tests[0] = test;
	rule->condition.terms[0].n = 1;
	behind->next = rule;
	behind->comments = NULL;
	return rule;
}

/* Adds a rule for the name behind the rule.  Returns the new rule. */
static struct hap_rule *
insert(struct hap_proxy *proxy, struct hap_rule *behind, const char *name,
    const char *target)
{
	return insert_test(proxy, behind, TEST_SNI, name, target);
}

/* Adds a rule for names that the map does not have.  HAProxy sends clients that
 * name nothing to the default backend. */
static void
put_default_of_map(
    struct hap_proxy *proxy, struct hap_rule *rule, const char *name)
{
	if (!hap_find_backend(proxy->file, name)) {
		hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
		    name, "no backend has that name");
		return;
	}
	if (proxy->default_backend && strcmp(proxy->default_backend, name) == 0)
		return;
	insert_test(proxy, rule, TEST_TLS, "yes", name);
	hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS, name,
	    "TLS clients that name nothing get this backend, and not the "
	    "default one");
}

static bool
haproxy_is_name(const char *name)
{
	return *name &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
	                    "XYZ0123456789-_.*") == strlen(name);
}

/* Reports words of the map that become no rule. */
static void
lose_words(struct hap_proxy *proxy, const struct hap_rule *rule,
    const char *path, unsigned line)
{
	/* The file may be none of HAProxy's: nothing of it is shown. */
	hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
	    arena_printf(&proxy->file->doc->arena, "%s:%u", path, line),
	    "the entry is not a host name with a backend in TCP mode");
}

/* Returns the number of the line that begins at the offset. */
static unsigned
line_of(const char *text, size_t offset)
{
	unsigned n = 1;

	for (size_t i = 0; i < offset; i++)
		n += text[i] == '\n';
	return n;
}

/* Adds the rules of a map file, with `NAME BACKEND` in each line.  Returns
 * false if it cannot be read. */
static bool
take_map(struct hap_proxy *proxy, struct hap_rule *rule, const char *map)
{
	struct arena *arena = &proxy->file->doc->arena;
	const char *open = strchr(map, '('), *otherwise;
	bool dom = strncmp(map, "map_dom", 7) == 0;
	bool end = strncmp(map, "map_end", 7) == 0;
	bool dotted, partial = false;
	char *text, *rest = NULL, *path, *start;

	if (!open || !proxy->file->source->may_read ||
	    strncmp(map, "map_reg", 7) == 0)
		return false;
	path = arena_copy(arena, open + 1, strcspn(open + 1, ",)"));
	otherwise = open + 1 + strlen(path);
	text = value_read_file(arena, path, NULL);
	if (!text)
		return false;
	start = arena_copy(arena, text, strlen(text));
	hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_OPERATORS,
	    arena_printf(arena, "map %s", path),
	    "read into the result, so that `set map` and a new file change "
	    "nothing");
	for (char *line = strtok_r(text, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		char *name = strtok(line, " \t"), *target = strtok(NULL, " \t");

		if (!name || name[0] == '#')
			continue;
		if (!target || !haproxy_is_name(name) ||
		    !hap_find_backend(proxy->file, target)) {
			lose_words(proxy, rule, path,
			    line_of(start, (size_t)(line - text)));
			continue;
		}
		dotted = name[0] == '.';
		name += dotted;
		if (!end || !dotted)
			rule = insert(proxy, rule, name, target);
		if (end || dom)
			rule = insert(proxy, rule,
			    arena_printf(arena, "*.%s", name), target);
		partial |= dom || (end && !dotted);
	}
	if (partial)
		hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
		    arena_printf(
		        arena, "%s of %s", dom ? "map_dom" : "map_end", path),
		    dom ? "a name in the middle of another one does not match"
		        : "a name at the end of a longer label does not match");
	if (*otherwise == ',') {
		const char *name = arena_copy(
		    arena, otherwise + 1, strcspn(otherwise + 1, ")"));

		put_default_of_map(proxy, rule, name);
	}
	return true;
}

/* Adds rules for the backends whose names are the prefix and a host name.
 * Returns false if there are none. */
static bool
take_prefix(struct hap_proxy *proxy, struct hap_rule *rule, size_t prefix)
{
	struct hap_file *file = proxy->file;
	bool found = false;

	for (size_t i = 0; i < file->n; i++) {
		const struct hap_section *s = &file->sections[i];
		const char *name = hap_word(&s->head, 1);

		if (hap_find_backend(file, name) != s ||
		    strncmp(name, rule->target, prefix) != 0 ||
		    !strchr(name + prefix, '.') ||
		    !haproxy_is_name(name + prefix))
			continue;
		rule = insert(proxy, rule, name + prefix, name);
		found = true;
	}
	return found;
}

bool
hap_dynamic_backend(struct hap_proxy *proxy, struct hap_rule *rule)
{
	const char *open = strstr(rule->target, "%["), *map = NULL;
	bool done = false;

	if (!strchr(rule->target, '%'))
		return false;
	if (open && is_sni(open + 2) && rule->condition.n == 1 &&
	    rule->condition.terms[0].n == 0) {
		map = strstr(open, "map");
		if (map && open == rule->target)
			done = take_map(proxy, rule, map);
		else if (!map && open[strcspn(open, "]")] == ']' &&
		         !open[strcspn(open, "]") + 1])
			done = take_prefix(
			    proxy, rule, (size_t)(open - rule->target));
	}
	for (struct hap_rule *r = rule->next; done && r; r = r->next)
		if (r->kind == RULE_BACKEND && r->line != rule->line) {
			hap_lost(proxy->file, proxy->fe, rule->line,
			    LOSS_CLIENTS,
			    "rules behind it apply to names that it has not; "
			    "HAProxy sends these to the default backend");
			break;
		}
	if (!done)
		hap_lost(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
		    "an expression cannot choose the backend; write sni = NAME "
		    "backend=BACKEND for each name");
	return true;
}
