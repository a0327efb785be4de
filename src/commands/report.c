/* SPDX-License-Identifier: MIT
 * See report.h.
 */
#include "commands/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/escape.h"
#include "base/printable.h"

/* Significant digits in JSON: nanoseconds of a day and numbers of bytes are
 * exact, and 0.1 does not become 0.10000000000000001. */
#define DIGITS 15

/* A conversion of a format with its value. */
struct conversion {
	char kind;            /* s, d, u, f or g */
	int width, precision; /* width < 0: to the left */
	union {
		const char *text;
		long long number;
		double real;
	};
};

static long long
read_integer(char kind, unsigned longs, va_list *ap)
{
	if (longs > 1)
		return va_arg(*ap, long long);
	if (longs == 1)
		return va_arg(*ap, long);
	return kind == 'u' ? (long long)va_arg(*ap, unsigned)
	                   : va_arg(*ap, int);
}

/* Reads the conversion behind the `%` and its value.  Returns what follows it
 * in the format. */
static const char *
read_conversion(const char *fmt, va_list *ap, struct conversion *ret)
{
	bool left = *fmt == '-';
	unsigned longs = 0;
	char *end;

	*ret = (struct conversion){.precision = -1};
	ret->width = (int)strtoul(fmt + left, &end, 10);
	if (*end == '*') {
		ret->width = va_arg(*ap, int);
		end++;
	}
	if (left)
		ret->width = -ret->width;
	if (*end == '.')
		ret->precision = (int)strtoul(end + 1, &end, 10);
	for (; *end == 'l' || *end == 'z'; end++)
		longs++;
	ret->kind = *end;
	if (ret->kind == 's')
		ret->text = va_arg(*ap, const char *);
	else if (ret->kind == 'f' || ret->kind == 'g')
		ret->real = va_arg(*ap, double);
	else
		ret->number = read_integer(ret->kind, longs, ap);
	return end + 1;
}

static bool
is_real(const struct conversion *c)
{
	return c->kind == 'f' || c->kind == 'g';
}

static bool
is_none(const struct conversion *c)
{
	return c->kind == 's' ? !c->text : is_real(c) && !isfinite(c->real);
}

/* -- text -- */

/* Writes a string; one with unprintable characters is not padded. */
static void
put_string(const char *text, int width, FILE *out)
{
	const char *end = text;
	size_t len;

	while ((len = printable_length(end)) > 0)
		end += len;
	if (!*end) {
		fprintf(out, "%*s", width, text);
		return;
	}
	while (*text) {
		len = printable_length(text);
		if (len > 0)
			fwrite(text, 1, len, out);
		else
			putc('?', out);
		text += len > 0 ? len : 1;
	}
}

static void
put_conversion(const struct conversion *c, const char *none, FILE *out)
{
	if (is_none(c))
		put_string(none, c->width, out);
	else if (c->kind == 's')
		put_string(c->text, c->width, out);
	else if (c->kind == 'f')
		fprintf(out, "%*.*f", c->width, c->precision, c->real);
	else if (c->kind == 'g')
		fprintf(out, "%*.*g", c->width, c->precision, c->real);
	else if (c->kind == 'u')
		fprintf(out, "%*llu", c->width, (unsigned long long)c->number);
	else
		fprintf(out, "%*lld", c->width, c->number);
}

static void
put_formatted(const struct report *r, const char *fmt, va_list *ap)
{
	while (*fmt) {
		size_t len = strcspn(fmt, "%");
		struct conversion c;

		fwrite(fmt, 1, len, r->out);
		fmt += len;
		if (fmt[0] == '%' && fmt[1] == '%') {
			putc('%', r->out);
			fmt += 2;
		} else if (*fmt) {
			fmt = read_conversion(fmt + 1, ap, &c);
			put_conversion(&c, r->none, r->out);
		}
	}
}

/* -- JSON -- */

/* Writes a number that other programs take for a real one: `2.0`. */
static void
put_real(double real, FILE *out)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*g", DIGITS, real);
	fputs(text, out);
	if (!strpbrk(text, ".e"))
		fputs(".0", out);
}

static void
begin_member(struct report *r, const char *name)
{
	if (r->any)
		putc(',', r->out);
	r->any = true;
	if (name)
		fprintf(r->out, "\"%s\":", name);
}

static void
put_member(struct report *r, const char *name, const char *fmt, va_list *ap)
{
	const char *percent = strchr(fmt, '%');
	struct conversion c;

	ENSURE(percent && percent[1] != '%');
	read_conversion(percent + 1, ap, &c);
	begin_member(r, name);
	if (is_none(&c))
		fputs("null", r->out);
	else if (c.kind == 's')
		escape_json_put(c.text, r->out);
	else if (is_real(&c))
		put_real(c.real, r->out);
	else if (c.kind == 'u')
		fprintf(r->out, "%llu", (unsigned long long)c.number);
	else
		fprintf(r->out, "%lld", c.number);
}

static void
open_json(struct report *r, const char *name, const char brackets[2])
{
	if (!r->json)
		return;
	ENSURE(r->depth < REPORT_DEPTH_MAX);
	begin_member(r, name);
	putc(brackets[0], r->out);
	r->closers[r->depth++] = brackets[1];
	r->any = false;
}

/* -- both -- */

void
report_begin(struct report *report, bool json, FILE *out)
{
	*report = (struct report){.out = out, .json = json, .none = "-"};
}

void
report_head(struct report *report, const char *head)
{
	report_list(report, NULL);
	if (!report->json)
		fputs(head, report->out);
}

void
report_end(struct report *report)
{
	while (report->depth > 0)
		report_close(report);
	if (report->json)
		putc('\n', report->out);
}

void
report_row(struct report *report)
{
	if (report->json && report->any) {
		fputs(",\n", report->out);
		report->any = false;
	}
	open_json(report, NULL, "{}");
}

void
report_row_end(struct report *report)
{
	if (report->json)
		report_close(report);
	else
		putc('\n', report->out);
}

void
report_list(struct report *report, const char *name)
{
	open_json(report, name, "[]");
}

void
report_object(struct report *report, const char *name)
{
	open_json(report, name, "{}");
}

void
report_close(struct report *report)
{
	if (!report->json)
		return;
	ENSURE(report->depth > 0);
	putc(report->closers[--report->depth], report->out);
	report->any = true;
}

void
report_put(struct report *report, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (report->json)
		put_member(report, name, fmt, &ap);
	else
		put_formatted(report, fmt, &ap);
	va_end(ap);
}

void
report_text(struct report *report, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!report->json)
		put_formatted(report, fmt, &ap);
	va_end(ap);
}

void
report_json(struct report *report, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (report->json)
		put_member(report, name, fmt, &ap);
	va_end(ap);
}

void
report_json_string(struct report *report, const char *name, const char *text)
{
	if (!report->json)
		return;
	begin_member(report, name);
	if (text)
		escape_json_put(text, report->out);
	else
		fputs("null", report->out);
}

void
report_json_null(struct report *report, const char *name)
{
	report_json_string(report, name, NULL);
}

void
report_json_known(
    struct report *report, const char *name, bool known, uint64_t n)
{
	if (known)
		report_json(report, name, "%" PRIu64, n);
	else
		report_json_null(report, name);
}

void
report_json_bool(struct report *report, const char *name, bool yes)
{
	if (!report->json)
		return;
	begin_member(report, name);
	fputs(yes ? "true" : "false", report->out);
}

const char *
span_text(uint64_t s, char out[SPAN_TEXT_SIZE])
{
	static const struct {
		unsigned seconds;
		char unit;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	if (i == 3)
		snprintf(out, SPAN_TEXT_SIZE, "%" PRIu64 "s", s);
	else
		snprintf(out, SPAN_TEXT_SIZE, "%" PRIu64 "%c%" PRIu64 "%c",
		    s / units[i].seconds, units[i].unit,
		    s % units[i].seconds / units[i + 1].seconds,
		    units[i + 1].unit);
	return out;
}

const char *
left_text(uint64_t ms, char out[SPAN_TEXT_SIZE])
{
	if (ms >= 10000)
		return span_text(ms / 1000, out);
	snprintf(out, SPAN_TEXT_SIZE, "%" PRIu64 ".%" PRIu64 "s", ms / 1000,
	    ms % 1000 / 100);
	return out;
}

const char *
endpoint_text(const struct endpoint *endpoint, char out[ENDPOINT_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN];

	if (endpoint->family == 0)
		return NULL;
	snprintf(out, ENDPOINT_TEXT_SIZE, "%s:%u",
	    endpoint_host(endpoint, host), endpoint->port);
	return out;
}
