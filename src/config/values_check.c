/* SPDX-License-Identifier: MIT
 * Health checks: what is asked of a server, and which answers are good.
 */
#include "config/values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "check/preset.h"
#include "net/tls_hello.h"

/* Returns the flags of the options that the kind takes besides those without
 * flags. */
static unsigned
options_of(enum check_kind kind)
{
	unsigned traits = check_presets[kind].traits;

	return (traits & CHECK_CONNECTS ? KEY_WIRE_ONLY : 0) |
	       (traits & CHECK_ASKS_HTTP ? KEY_HTTP_ONLY : 0) |
	       (traits & CHECK_TAKES_TLS ? KEY_TLS_ONLY : 0) |
	       (traits & CHECK_LOGS_IN ? KEY_USER_ONLY : 0) |
	       (traits & CHECK_SAYS_HELLO ? KEY_HELLO_ONLY : 0);
}

#define PATTERN_ALLOWED "\"TEXT\", hex BYTES or regex \"EXPRESSION\""

static bool
parse_check_kind(
    const struct value *v, const char *word, enum check_kind *ret_kind)
{
	size_t kind;

	/* The short form of the command line. */
	if (strncmp(word, "http:", 5) == 0 || strncmp(word, "https:", 6) == 0)
		return value_fail(v, "'%s' is unknown; write %.*s path=%s",
		    word, (int)strcspn(word, ":"), word,
		    *strchr(word, ':') && strchr(word, ':')[1] == '/'
		        ? strchr(word, ':') + 1
		        : "/PATH");
	if (!value_choose(
	        v, word, NAME_TABLE(check_presets, CHECK_KINDS), &kind))
		return false;
	*ret_kind = (enum check_kind)kind;
	return true;
}

/* Loads the certificate authorities while the configuration is read: with the
 * same rights, and again at each reload. */
static bool
read_trust(const struct value *v, struct check_spec *c)
{
	struct err err;

	if (c->tls == SWITCH_OFF &&
	    (c->kind == CHECK_HTTPS || c->kind == CHECK_TLS))
		return value_fail(v, "'%s' is over TLS; write %s",
		    check_presets[c->kind].name,
		    c->kind == CHECK_TLS ? "connect tls=off" : "http tls=off");
	if (!check_is_tls(c))
		return (!c->ca && !c->sni && !c->common_name) ||
		       value_fail(v, "ca, sni and common_name need tls=on");
	if (!c->verify)
		return (!c->ca && !c->common_name) ||
		       value_fail(v,
		           "%s is without effect while verify=off; keep one",
		           c->ca ? "ca" : "common_name");
	c->trust = trust_load(c->ca, &err);
	return c->trust || value_fail(v, "ca: %s", err.text);
}

static bool append_step(
    const struct value *v, const char *text, struct check_steps *steps);

/* Reads the steps of a preset, which are written as those of check_step. */
static bool
read_preset_steps(const struct value *v, struct check_spec *c)
{
	const struct check_preset *preset = &check_presets[c->kind];
	char own[CHECK_STEP_SIZE];

	if (preset->write_step)
		preset->write_step(c, own);
	for (size_t i = 0; preset->steps && preset->steps[i]; i++)
		if (!append_step(v, *preset->steps[i] ? preset->steps[i] : own,
		        &c->preset_steps))
			return false;
	return true;
}

static bool
parse_check(const struct value *v)
{
	struct check_spec *check = value_target(v);
	struct check_spec c = {.kind = CHECK_OFF, .verify = true};
	struct words words;

	words_split(&words, v->text);
	if (!parse_check_kind(v, words.word[0], &c.kind))
		return false;
	if (c.kind == CHECK_OFF && words.n > 1)
		return value_fail(v, "'off' takes no options");
	if (!options_read(v, &words, 1, &c, options_of(c.kind), "") ||
	    !read_trust(v, &c) || !read_preset_steps(v, &c)) {
		check_spec_fini(&c);
		return false;
	}
	check_spec_fini(check);
	*check = c;
	return true;
}

static bool
print_check(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct check_spec *c = shown_source(s);

	value_write(out, "%s", check_presets[c->kind].name);
	if (c->kind != CHECK_OFF)
		options_print(s, c, NULL, options_of(c->kind), out);
	return true;
}

static bool
parse_status(const struct value *v)
{
	struct status_set *set = value_target(v);
	char copy[DRAFT_VALUE_MAX + 1];
	char *rest = copy, *text;

	*set = (struct status_set){.bits = {0}};
	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((text = strsep(&rest, ","))) {
		unsigned from, to;

		if (!value_read_range(text, STATUS_MIN, STATUS_MAX, &from, &to))
			return value_fail(v,
			    "'%s' is not an HTTP status; write one from %u to "
			    "%u or a range, as in 200-399, with commas between "
			    "several",
			    text, STATUS_MIN, STATUS_MAX);
		status_set_add(set, from, to);
	}
	return true;
}

static bool
print_status(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct status_set *set = shown_source(s);
	size_t len = 0;

	out[0] = '\0';
	for (long from = STATUS_MIN, to; from <= (long)STATUS_MAX; from++) {
		if (!status_set_has(set, from))
			continue;
		for (to = from; status_set_has(set, to + 1); to++)
			;
		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    from == to ? "%s%ld" : "%s%ld-%ld", len > 0 ? "," : "",
		    from, to);
		from = to;
	}
	return true;
}

static bool
parse_sni(const struct value *v)
{
	const char *p = v->text;

	while (isalnum((unsigned char)*p) || (*p && strchr("-_.", *p)))
		p++;
	if (*p || p - v->text > TLS_NAME_MAX)
		return value_fail(v,
		    "'%s' is not a host name; write one as in www.example.com",
		    v->text);
	return value_keep_text(v);
}

/* Returns whether lfproxy itself sends this header. */
static bool
is_own_header(const char *text, size_t len)
{
	static const char *const own[] = {
	    "connection", "content-length", "transfer-encoding"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strlen(own[i]) == len &&
		    strncasecmp(text, own[i], len) == 0)
			return true;
	return false;
}

static bool
parse_check_header(const struct value *v)
{
	struct backend_spec *b = v->object;
	size_t len = strcspn(v->text, ":");
	char *copy = NULL;

	if (len == 0 || !v->text[len] ||
	    strcspn(v->text, " \t\"(),/;<=>?@[\\]{}") < len)
		return value_fail(v,
		    "'%s' is not a header; write NAME: VALUE, as in X-Probe: "
		    "yes",
		    v->text);
	if (len == 4 && strncasecmp(v->text, "host", len) == 0)
		return value_fail(
		    v, "the Host header has an option: check = http host=...");
	if (is_own_header(v->text, len))
		return value_fail(
		    v, "'%.*s' is lfproxy's own to set", (int)len, v->text);
	if (!value_set_string(v, &copy, v->text))
		return false;
	if (value_append(
	        v, &b->check_headers, &b->check_headers_n, &copy, sizeof(copy)))
		return true;
	free(copy);
	return false;
}

static bool
print_check_header(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;

	return s->nth < b->check_headers_n &&
	       value_write(out, "%s", b->check_headers[s->nth]);
}

static bool
parse_check_body(const struct value *v)
{
	struct backend_spec *b = v->object;
	struct pattern pattern;
	struct err err;

	if (!pattern_parse(v->text, &pattern, &err))
		return value_fail(v, "%s", err.text);
	if (value_append(v, &b->check_bodies, &b->check_bodies_n, &pattern,
	        sizeof(pattern)))
		return true;
	pattern_fini(&pattern);
	return false;
}

static bool
print_check_body(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;

	return s->nth < b->check_bodies_n &&
	       value_write(out, "%s", b->check_bodies[s->nth].text);
}

static const char *const step_kinds[] = {
    [STEP_SEND] = "send", [STEP_EXPECT] = "expect", [STEP_REFUSE] = "refuse"};

#define STEP_KINDS (sizeof(step_kinds) / sizeof(step_kinds[0]))
_Static_assert(STEP_KINDS == STEP_REFUSE + 1, "the last is last");

static bool
append_step(const struct value *v, const char *text, struct check_steps *steps)
{
	size_t len = strcspn(text, " \t");
	const char *rest = text + len + strspn(text + len, " \t");
	struct check_step step;
	struct err err;
	size_t i = 0;

	while (i < STEP_KINDS && (strlen(step_kinds[i]) != len ||
	                             memcmp(step_kinds[i], text, len) != 0))
		i++;
	if (i == STEP_KINDS)
		return value_fail(v,
		    "'%.*s' is not a step; write send, expect or refuse, and "
		    "then what, as in send \"PING\\r\\n\"",
		    (int)len, text);
	step.kind = (enum step_kind)i;
	if (!pattern_parse(rest, &step.pattern, &err))
		return value_fail(v, "%s: %s", step_kinds[i], err.text);
	if ((step.kind != STEP_SEND || step.pattern.kind == PATTERN_BYTES) &&
	    value_append(v, &steps->steps, &steps->n, &step, sizeof(step)))
		return true;
	if (step.kind == STEP_SEND && step.pattern.kind != PATTERN_BYTES)
		value_fail(v, "a regular expression cannot be sent");
	pattern_fini(&step.pattern);
	return false;
}

static bool
parse_check_step(const struct value *v)
{
	struct backend_spec *b = v->object;

	return append_step(v, v->text, &b->check_steps);
}

static bool
print_check_step(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;
	const struct check_step *step;

	if (s->nth >= b->check_steps.n)
		return false;
	step = &b->check_steps.steps[s->nth];
	return value_write(
	    out, "%s %s", step_kinds[step->kind], step->pattern.text);
}

static bool
parse_agent_send(const struct value *v)
{
	struct pattern *send = value_target(v);
	struct pattern pattern;
	struct err err;

	if (!pattern_parse(v->text, &pattern, &err))
		return value_fail(v, "%s", err.text);
	pattern_fini(send);
	*send = pattern;
	return true;
}

static bool
print_agent_send(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct pattern *send = shown_source(s);

	return send->n > 0 && value_write(out, "%s", send->text);
}

static bool
parse_agent(const struct value *v)
{
	struct agent_spec *agent = value_target(v);
	struct agent_spec a = {.on = false};
	struct words words;

	words_split(&words, v->text);
	if (!value_read_boolean(words.word[0], &a.on))
		return value_fail(v,
		    "'%s' is neither off nor on; write on port=NUMBER, or off",
		    words.word[0]);
	if (!a.on && words.n > 1)
		return value_fail(v, "'off' takes no options");
	if (!options_read(v, &words, 1, &a, 0, "")) {
		pattern_fini(&a.send);
		return false;
	}
	pattern_fini(&agent->send);
	*agent = a;
	return true;
}

static bool
print_agent(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct agent_spec *agent = shown_source(s);

	value_write(out, "%s", agent->on ? "on" : "off");
	if (agent->on)
		options_print(s, agent, NULL, 0, out);
	return true;
}

/* Reads `192.0.2.1` or `2001:db8::1`, and no name: the checked address must not
 * change with a name's. */
static bool
parse_check_host(const struct value *v)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct addr *addr = value_target(v);
	struct endpoint e;

	if (inet_pton(AF_INET, v->text, &in.sin_addr) == 1)
		endpoint_set(&e, (struct sockaddr *)&in, sizeof(in));
	else if (inet_pton(AF_INET6, v->text, &in6.sin6_addr) == 1)
		endpoint_set(&e, (struct sockaddr *)&in6, sizeof(in6));
	else
		return value_fail(v,
		    "'%s' is not an IP address; write one without a port, as "
		    "in 192.0.2.1",
		    v->text);
	return endpoint_addr(&e, addr);
}

static bool
print_check_host(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct addr *addr = shown_source(s);
	struct endpoint e;

	if (addr->sa.sa_family == AF_UNSPEC)
		return false;
	endpoint_set(&e, &addr->sa, addr->len);
	endpoint_host(&e, out);
	return true;
}

static bool
parse_check_command(const struct value *v)
{
	struct words words;

	words_split(&words, v->text);
	if (words.word[0][0] != '/')
		return value_fail(v,
		    "'%s' does not begin with /; write the whole path of the "
		    "program",
		    words.word[0]);
	if (access(words.word[0], X_OK) < 0)
		return value_fail(v, "'%s' cannot be run: %s", words.word[0],
		    strerror(errno));
	return value_keep_text(v);
}

VALUE_TYPE(check_command, value_print_string,
    "the path of a program, and arguments", VALUE_QUOTED);
VALUE_TYPE(check_host, print_check_host, "an IP address, without a port", 0);
VALUE_TYPE(agent, print_agent, "off or on", 0);
VALUE_TYPE(agent_send, print_agent_send,
    "text without blanks; \\n, \\x20 and so on as in C",
    VALUE_QUOTED | VALUE_SECRET);
VALUE_TYPE(check_step, print_check_step,
    "send, expect or refuse, then " PATTERN_ALLOWED,
    VALUE_QUOTED | VALUE_SECRET);
VALUE_TYPE(check, print_check,
    "off, connect, http, https, tls, script, send-expect, redis, postgresql, "
    "mysql or smtp",
    0);
VALUE_TYPE(status, print_status, "statuses and ranges of them, 100 to 599", 0);
const struct value_type type_ca = {value_keep_text, value_print_string,
    "a file of certificates in PEM form", 0, 0};
VALUE_TYPE(sni, value_print_string, "a host name", 0);
VALUE_TYPE(check_header, print_check_header, "NAME: VALUE",
    VALUE_QUOTED | VALUE_SECRET);
VALUE_TYPE(check_body, print_check_body, PATTERN_ALLOWED, VALUE_QUOTED);
