/* SPDX-License-Identifier: MIT
 * See preset.h.
 */
#include "check/preset.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const redis_steps[] = {"send \"*1\\r\\n$4\\r\\nPING\\r\\n\"",
    "refuse regex \"\\A-\"", "expect \"+PONG\"", NULL};
static const char *const smtp_steps[] = {"refuse regex \"^[45]\\d\\d\"",
    "expect regex \"^220 .*\\n\"", "", "refuse regex \"^[45]\\d\\d\"",
    "expect regex \"^250 .*\\n\"", "send \"QUIT\\r\\n\"",
    "expect regex \"^221\"", NULL};
/* The server speaks first: the length of a packet, its number 0, and then
 * version 10 of the protocol or an error. */
static const char *const mysql_steps[] = {
    "refuse regex \"(?s)\\A...\\x00\\xff\"",
    "expect regex \"(?s)\\A...\\x00\\x0a\"", NULL};
/* After StartupMessage the server asks for a password, or reports an error. */
static const char *const postgresql_steps[] = {
    "", "refuse regex \"\\AE\"", "expect regex \"\\AR\"", NULL};

static void
write_smtp_hello(const struct check_spec *check, char out[CHECK_STEP_SIZE])
{
	snprintf(out, CHECK_STEP_SIZE, "send \"%s %s\\r\\n\"",
	    check->helo ? "HELO" : "EHLO", check->hello);
}

/* Writes PostgreSQL's StartupMessage, version 3.0, with the user. */
static void
write_postgresql_startup(
    const struct check_spec *check, char out[CHECK_STEP_SIZE])
{
	static const char head[] = "\0\3\0\0user", tail[] = "";
	size_t n = 4 + sizeof(head) + strlen(check->user) + 1 + sizeof(tail);
	size_t len =
	    (size_t)snprintf(out, CHECK_STEP_SIZE, "send hex %08zx", n);

	for (size_t i = 0; i < sizeof(head); i++)
		len += (size_t)snprintf(out + len, CHECK_STEP_SIZE - len,
		    "%02x", (unsigned char)head[i]);
	for (size_t i = 0; i <= strlen(check->user); i++)
		len += (size_t)snprintf(out + len, CHECK_STEP_SIZE - len,
		    "%02x", (unsigned char)check->user[i]);
	snprintf(out + len, CHECK_STEP_SIZE - len, "00");
}

/* Reads the last reply (RFC 5321, 4.2), or the first that refuses. */
static void
read_smtp_verdict(const char *data, size_t n, struct check_verdict *v)
{
	while (n > 0 && !v->refused) {
		const char *end = memchr(data, '\n', n);
		size_t line = end ? (size_t)(end - data) + 1 : n;
		size_t len = line;
		char text[sizeof(v->text)];

		while (len > 0 && isspace((unsigned char)data[len - 1]))
			len--;
		snprintf(text, sizeof(text), "%.*s", (int)len, data);
		if (strspn(text, "0123456789") >= 3) {
			sscanf(text, "%3u", &v->code);
			v->refused = text[0] == '4' || text[0] == '5';
			strcpy(v->text, text);
		}
		data += line;
		n -= line;
	}
}

/* Reads an ERR_Packet of the client/server protocol: 4 bytes of header, 0xff,
 * the error number, little-endian, and its text. */
static void
read_mysql_verdict(const char *data, size_t n, struct check_verdict *v)
{
	const unsigned char *bytes = (const unsigned char *)data;

	if (n < 7 || bytes[4] != 0xff)
		return;
	v->refused = true;
	v->code = bytes[5] | (unsigned)bytes[6] << 8;
	snprintf(v->text, sizeof(v->text), "%.*s", (int)(n - 7), data + 7);
}

#define STEPS_TRAITS (CHECK_CONNECTS | CHECK_TAKES_TLS)

/* clang-format off */
const struct check_preset check_presets[CHECK_KINDS] = {
    [CHECK_OFF] = {.name = "off"},
    [CHECK_CONNECT] = {"connect", &check_talk_ops, .traits = CHECK_CONNECTS},
    [CHECK_HTTP] = {"http", &check_http_ops,
        .traits = CHECK_CONNECTS | CHECK_ASKS_HTTP},
    [CHECK_HTTPS] = {"https", &check_http_ops,
        .traits = CHECK_CONNECTS | CHECK_ASKS_HTTP | CHECK_TAKES_TLS},
    [CHECK_TLS] = {"tls", &check_talk_ops,
        .traits = CHECK_CONNECTS | CHECK_TAKES_TLS},
    [CHECK_SCRIPT] = {"script", .ops = &check_script_ops},
    [CHECK_SEND_EXPECT] = {"send-expect", &check_talk_ops,
        .traits = STEPS_TRAITS},
    [CHECK_REDIS] = {"redis", &check_talk_ops,
        .traits = STEPS_TRAITS, .steps = redis_steps},
    [CHECK_POSTGRESQL] = {"postgresql", &check_talk_ops,
        .traits = STEPS_TRAITS | CHECK_LOGS_IN, .steps = postgresql_steps,
        .write_step = write_postgresql_startup},
    [CHECK_MYSQL] = {"mysql", &check_talk_ops,
        .traits = STEPS_TRAITS, .steps = mysql_steps,
        .read_verdict = read_mysql_verdict},
    [CHECK_SMTP] = {"smtp", &check_talk_ops,
        .traits = STEPS_TRAITS | CHECK_SAYS_HELLO, .steps = smtp_steps,
        .write_step = write_smtp_hello,
        .read_verdict = read_smtp_verdict},
};
/* clang-format on */
