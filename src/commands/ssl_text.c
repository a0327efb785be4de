/* SPDX-License-Identifier: MIT
 * See ssl_text.h.
 */
#include "commands/ssl_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "commands/tls_sections.h"

const char *
ssl_time_text(int64_t seconds, char out[SSL_TIME_SIZE])
{
	time_t time = seconds;
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&time, &tm))
		(void)strftime(
		    out, SSL_TIME_SIZE, "%b %e %H:%M:%S %Y GMT", &tm);
	return out;
}

const char *
ssl_upper_text(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; text[n] && n + 1 < size; n++)
		out[n] = (char)toupper((unsigned char)text[n]);
	out[n] = '\0';
	return out;
}

const char *
ssl_name_text(const char *name, char out[SSL_NAME_SIZE])
{
	size_t end = strlen(name), n = 0;

	while (end > 0) {
		size_t from = end;

		while (from > 0 && (name[from - 1] != ',' ||
		                       (from > 1 && name[from - 2] == '\\')))
			from--;
		n += (size_t)snprintf(out + n, SSL_NAME_SIZE - n, "/%.*s",
		    (int)(end - from), name + from);
		end = from > 0 ? from - 1 : 0;
		if (n >= SSL_NAME_SIZE - 1)
			break;
	}
	if (n == 0)
		out[0] = '\0';
	return out;
}

static void
put_sans(struct report *r, const char *sans)
{
	report_json_string(r, "sans", sans);
	report_text(r, "\nSubject Alternative Name: ");
	for (const char *at = sans; *at;) {
		size_t n = strcspn(at, ",");
		char name[TLS_SANS_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		report_text(r, "%s%s", at > sans ? ", " : "", name);
		at += n + (at[n] == ',');
	}
}

void
ssl_put_facts(struct report *r, const struct tls_cert_facts *f)
{
	char text[SSL_NAME_SIZE], key[TLS_KEY_TEXT_SIZE];

	report_put(r, "serial", "\nSerial: %s",
	    ssl_upper_text(f->serial, text, sizeof(text)));
	report_json(r, "not_before", "%" PRId64, f->not_before);
	report_text(r, "\nnotBefore: %s", ssl_time_text(f->not_before, text));
	report_json(r, "not_after", "%" PRId64, f->not_after);
	report_text(r, "\nnotAfter: %s", ssl_time_text(f->not_after, text));
	put_sans(r, f->sans);
	report_put(r, "key", "\nAlgorithm: %s", tls_key_text(f, key));
	report_put(r, "sha1", "\nSHA1 FingerPrint: %s",
	    ssl_upper_text(f->fingerprint_sha1, text, sizeof(text)));
	report_json_string(r, "sha256", f->fingerprint);
	report_json_string(r, "subject", f->subject);
	report_text(r, "\nSubject: %s", ssl_name_text(f->subject, text));
	report_json_string(r, "issuer", f->issuer);
	report_text(r, "\nIssuer: %s", ssl_name_text(f->issuer, text));
}
