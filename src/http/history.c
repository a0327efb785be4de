/* SPDX-License-Identifier: MIT
 * See history.h.
 */
#include "http/history.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "stats/info.h"

static uint32_t
clamp(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void
sample_process(struct history *h, const struct command_env *env)
{
	struct info_facts facts;
	const struct model *model = env->instance->model;

	info_gather(env, &facts);
	h->process[HISTORY_SESSIONS][h->next] =
	    atomic_load_relaxed(&model->state->sessions.now);
	h->process[HISTORY_RATE][h->next] =
	    clamp(model->state->rate.per_second);
	h->process[HISTORY_BYTES][h->next] = clamp(facts.bytes_rate / 1024);
	h->process[HISTORY_BUSY][h->next] = 100 - facts.idle_percent;
}

/* Returns the row of that proxy, or a free one with its name, or NULL if there
 * is none. */
static struct history_proxy *
history_slot(struct history *h, const char *name)
{
	struct history_proxy *free_place = NULL;

	for (size_t i = 0; i < HISTORY_PROXIES; i++) {
		struct history_proxy *p = &h->proxies[i];

		if (strcmp(p->name, name) == 0)
			return p;
		if (!*p->name && !free_place)
			free_place = p;
	}
	if (!free_place)
		return NULL;
	memset(free_place, 0, sizeof(*free_place));
	snprintf(free_place->name, sizeof(free_place->name), "%s", name);
	return free_place;
}

static void
sample_proxy(struct history *h, const char *kind, const char *proxy,
    const struct gauge *sessions, bool seen[HISTORY_PROXIES])
{
	char name[HISTORY_NAME];
	struct history_proxy *p;

	snprintf(name, sizeof(name), "%s %s", kind, proxy);
	p = history_slot(h, name);
	if (!p)
		return;
	seen[p - h->proxies] = true;
	p->sessions[h->next] = atomic_load_relaxed(&sessions->now);
}

void
history_sample(struct history *history, const struct command_env *env)
{
	struct history *h = history;
	const struct model *model = env->instance->model;
	bool seen[HISTORY_PROXIES] = {false};

	sample_process(h, env);
	model_for_each_frontend (f, model)
		sample_proxy(h, "frontend", f->spec->name, f->sessions, seen);
	model_for_each_backend (b, model)
		sample_proxy(h, "backend", b->spec->name, b->sessions, seen);
	for (size_t i = 0; i < HISTORY_PROXIES; i++)
		if (!seen[i])
			h->proxies[i].name[0] = '\0';
	h->next = (h->next + 1) % HISTORY_SAMPLES;
	if (h->n < HISTORY_SAMPLES)
		h->n++;
}

static void
put_series(const struct history *h, const uint32_t *series, FILE *out)
{
	unsigned at = (h->next + HISTORY_SAMPLES - h->n) % HISTORY_SAMPLES;

	putc('[', out);
	for (unsigned i = 0; i < h->n; i++)
		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "",
		    series[(at + i) % HISTORY_SAMPLES]);
	putc(']', out);
}

void
history_put(const struct history *history, FILE *out)
{
	static const char *const kinds[HISTORY_KINDS] = {
	    "sessions", "rate", "kib_per_s", "busy_percent"};
	const struct history *h = history;
	const char *separator = "";

	fprintf(out, "{\"step_s\":%d", HISTORY_STEP_S);
	for (int i = 0; i < HISTORY_KINDS; i++) {
		fprintf(out, ",\"%s\":", kinds[i]);
		put_series(h, h->process[i], out);
	}
	fputs(",\"proxies\":{", out);
	for (size_t i = 0; i < HISTORY_PROXIES; i++) {
		if (!*h->proxies[i].name)
			continue;
		fputs(separator, out);
		separator = ",";
		escape_json_put(h->proxies[i].name, out);
		putc(':', out);
		put_series(h, h->proxies[i].sessions, out);
	}
	fputs("}}", out);
}
