/* SPDX-License-Identifier: MIT
 * See consul_text.h.
 */
#include "resolve/consul_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/printable.h"
#include "base/text_out.h"

const char consul_parameters[] =
    "passing, tag, near, dc, ns, partition, peer, sg, filter, node-meta, "
    "stale, consistent, cached";

/* -- The request -- */

/* Returns whether the word is one of the list. */
static bool
parameter_is_known(const char *name)
{
	size_t n = strlen(name), len;

	for (const char *at = consul_parameters; *at; at += len) {
		at += strspn(at, ", ");
		len = strcspn(at, ",");
		if (len == n && memcmp(at, name, n) == 0)
			return true;
	}
	return false;
}

static bool
write_parameters(
    FILE *out, const struct discovery_target *target, struct err *err)
{
	for (size_t i = 0; i < target->parameters_n; i++) {
		const struct discovery_parameter *p = &target->parameters[i];
		char *value;

		if (!parameter_is_known(p->name))
			return err_set(err,
			    "unknown parameter '%s'; allowed are %s", p->name,
			    consul_parameters);
		fprintf(out, "%s%s", i > 0 ? "&" : "", p->name);
		if (!p->value)
			continue;
		value = discovery_escape(p->value);
		if (!value)
			return err_oom(err);
		fprintf(out, "=%s", value);
		free(value);
	}
	return true;
}

char *
consul_query(const struct discovery_target *target, struct err *err)
{
	const char *service = target->path + 1;
	char *name = discovery_escape(service);
	struct text_out out;
	bool ok;

	if (!*service || strchr(service, '/')) {
		err_set(err, "the URL names no service; write "
		             "http://HOST:PORT/SERVICE");
		free(name);
		return NULL;
	}
	if (!name || !text_out_open(&out)) {
		free(name);
		err_oom(err);
		return NULL;
	}
	fprintf(out.stream, "/v1/health/service/%s?", name);
	free(name);
	ok = write_parameters(out.stream, target, err);
	if (!text_out_close(&out)) {
		err_oom(err);
		return NULL;
	}
	if (ok)
		return out.text;
	free(out.text);
	return NULL;
}

bool
consul_wants_passing(const struct discovery_target *target)
{
	for (size_t i = 0; i < target->parameters_n; i++) {
		const struct discovery_parameter *p = &target->parameters[i];

		/* Consul takes the parameter alone, or with a true value. */
		if (strcmp(p->name, "passing") == 0)
			return !p->value || !*p->value ||
			       !(strcasecmp(p->value, "false") == 0 ||
			           strcasecmp(p->value, "f") == 0 ||
			           strcmp(p->value, "0") == 0);
	}
	return false;
}

/* -- The answer -- */

/* The worst of an instance's checks. */
enum consul_health { CONSUL_PASSING, CONSUL_WARNING, CONSUL_CRITICAL };

static enum consul_health
instance_health(const json_t *entry)
{
	enum consul_health health = CONSUL_PASSING;
	const json_t *check;
	size_t i;

	json_array_foreach(json_object_get(entry, "Checks"), i, check)
	{
		const char *status =
		    json_string_value(json_object_get(check, "Status"));

		/* The check that stands for maintenance is critical. */
		if (!status || strcmp(status, "passing") == 0)
			continue;
		if (strcmp(status, "warning") != 0)
			return CONSUL_CRITICAL;
		health = CONSUL_WARNING;
	}
	return health;
}

static uint64_t
instance_weight(const json_t *service, enum consul_health health)
{
	const json_t *weight =
	    json_object_get(json_object_get(service, "Weights"),
	        health == CONSUL_WARNING ? "Warning" : "Passing");

	if (!json_is_integer(weight))
		return 1;
	return json_integer_value(weight) > 0
	           ? (uint64_t)json_integer_value(weight)
	           : 0;
}

/* Returns the text of the JSON member of that name, or "". */
static const char *
text_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void
write_note(FILE *out, const json_t *service)
{
	json_t *meta = json_object_get(service, "Meta"), *value;
	const json_t *tag;
	const char *name, *space = "";
	size_t i;

	json_array_foreach(json_object_get(service, "Tags"), i, tag)
	{
		if (!json_is_string(tag))
			continue;
		fprintf(out, "%s%s", space, json_string_value(tag));
		space = " ";
	}
	json_object_foreach(meta, name, value)
	{
		if (!json_is_string(value))
			continue;
		fprintf(out, "%s%s=%s", space, name, json_string_value(value));
		space = " ";
	}
}

static void
write_address(FILE *out, const char *host, json_int_t port)
{
	bool brackets = strchr(host, ':') && host[0] != '[';

	fprintf(out, "%s%s%s:%" JSON_INTEGER_FORMAT, brackets ? "[" : "", host,
	    brackets ? "]" : "", port);
}

/* Writes the texts of a member, one after another in a stream.  starts: where
 * the texts begin. */
static void
write_instance(
    FILE *out, const json_t *entry, enum consul_health health, long starts[3])
{
	const json_t *service = json_object_get(entry, "Service");
	const json_t *node = json_object_get(entry, "Node");
	const char *host = text_in(service, "Address");

	if (!*host)
		host = text_in(node, "Address");
	fprintf(out, "%s/%s", text_in(node, "Node"), text_in(service, "ID"));
	fputc('\0', out);
	starts[0] = ftell(out);
	write_address(
	    out, host, json_integer_value(json_object_get(service, "Port")));
	fputc('\0', out);
	starts[1] = ftell(out);
	fprintf(out, "weight=%" PRIu64, instance_weight(service, health));
	fputc('\0', out);
	starts[2] = ftell(out);
	write_note(out, service);
}

static bool
instance_put(const json_t *entry, enum consul_health health,
    struct member_set *set, struct err *err)
{
	struct text_out out;
	struct discovered m;
	long starts[3];
	bool ok;

	if (!text_out_open(&out))
		return err_oom(err);
	write_instance(out.stream, entry, health, starts);
	if (!text_out_close(&out))
		return err_oom(err);
	m = (struct discovered){.key = out.text,
	    .address = out.text + starts[0],
	    .options = out.text + starts[1],
	    .note = out.text + starts[2]};
	printable_clean(out.text, '?');
	printable_clean(out.text + starts[0], '?');
	printable_clean(out.text + starts[2], '?');
	ok = member_set_find(set, m.key) || member_set_put(set, &m) ||
	     err_oom(err);
	free(out.text);
	return ok;
}

bool
consul_instance_read(const char *text, size_t n, bool passing,
    struct member_set *set, struct err *err)
{
	json_error_t error;
	json_t *entry = json_loadb(text, n, 0, &error);
	enum consul_health health;
	bool ok = true;

	if (!entry)
		return err_set(err, "the answer is not JSON: %s", error.text);
	health = instance_health(entry);
	if (!json_is_object(json_object_get(entry, "Service")) ||
	    !*text_in(json_object_get(entry, "Service"), "ID"))
		ok = err_set(err, "the answer is not Consul's: an instance has "
		                  "no Service.ID");
	else if (health == CONSUL_PASSING ||
	         (health == CONSUL_WARNING && !passing))
		ok = instance_put(entry, health, set, err);
	json_decref(entry);
	if (ok && member_set_count(set) > CONSUL_MEMBERS_MAX)
		ok = err_set(err, "the service has more than %d instances",
		    CONSUL_MEMBERS_MAX);
	return ok;
}

static uint64_t
member_weight(const struct discovered *member)
{
	return strtoull(member->options + strlen("weight="), NULL, 10);
}

/* Divides the weights, of which max is the highest.  Returns false when memory
 * is short. */
static bool
members_scale(struct member_set *set, const struct discovered *members,
    size_t n, uint64_t max)
{
	for (size_t i = 0; i < n; i++) {
		double weight = (double)member_weight(&members[i]);
		double scaled = weight * CONSUL_WEIGHT_MAX / (double)max;
		struct discovered m = members[i];
		char options[32];

		if (weight > 0 && scaled < 1)
			scaled = 1;
		snprintf(options, sizeof(options), "weight=%.0f", scaled);
		m.options = options;
		if (!member_set_put(set, &m))
			return false;
	}
	return true;
}

bool
consul_weights_scale(struct member_set *set)
{
	uint64_t max = 0;
	size_t n;
	struct discovered *members = member_set_list(set, &n);
	bool ok = members != NULL;

	for (size_t i = 0; ok && i < n; i++)
		if (member_weight(&members[i]) > max)
			max = member_weight(&members[i]);
	if (ok && max > CONSUL_WEIGHT_MAX)
		ok = members_scale(set, members, n, max);
	free(members);
	return ok;
}

static uint64_t
text_fingerprint(uint64_t from, const char *text)
{
	for (; *text; text++)
		from = from * 31 + (unsigned char)*text;
	return mix64(from);
}

uint64_t
consul_fingerprint(const struct member_set *set)
{
	uint64_t sum = 0;
	size_t n = 0;
	struct discovered *members = member_set_list(set, &n);

	for (size_t i = 0; members && i < n; i++) {
		uint64_t print = text_fingerprint(1, members[i].key);

		print = text_fingerprint(print, members[i].address);
		print = text_fingerprint(print, members[i].options);
		sum += text_fingerprint(print, members[i].note);
	}
	free(members);
	return sum;
}
