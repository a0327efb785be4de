/* SPDX-License-Identifier: MIT
 * See log.h: messages for the operator.
 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/lock.h"
#include "base/log_target.h"
#include "base/printable.h"
#include "base/time_text.h"

/* A message in the ring of a target. */
struct message {
	uint64_t wall_us;
	const char *event; /* static */
	enum log_sink_kind sink;
	enum log_level level;
	bool is_alert;
	char about[100], text[LOG_RECORD_SIZE - 132];
};
_Static_assert(sizeof(struct message) <= LOG_RECORD_SIZE, "one record");

/* The targets of messages; without any, messages go to standard error. */
static struct lock targets_lock = LOCK_INITIALIZER;
static struct log_message_targets targets;
/* The format of messages on standard error without a target. */
static enum log_message_format standard_format = LOG_MESSAGE_TEXT;

static uint64_t warnings; /* relaxed */

uint64_t
log_warnings(void)
{
	return atomic_load_relaxed(&warnings);
}

const char *
log_level_name(enum log_level level)
{
	static const char *const names[] = {[LOG_LEVEL_ERROR] = "error",
	    [LOG_LEVEL_WARNING] = "warning",
	    [LOG_LEVEL_INFO] = "info"};
	_Static_assert(LOG_LEVEL_INFO + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[level];
}

/* -- severity -- */

static bool to_journal;

static void
find_journal(void)
{
	const char *journal = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	to_journal = journal &&
	             sscanf(journal, "%llu:%llu", &device, &inode) == 2 &&
	             fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device &&
	             st.st_ino == inode;
}

static const char *
severity(enum log_level level)
{
	static const char *const severities[] = {[LOG_LEVEL_ERROR] = "<3>",
	    [LOG_LEVEL_WARNING] = "<4>",
	    [LOG_LEVEL_INFO] = "<6>"};

	return severities[level];
}

const char *
log_severity(enum log_level level)
{
	static pthread_once_t found = PTHREAD_ONCE_INIT;

	(void)pthread_once(&found, find_journal);
	return to_journal ? severity(level) : "";
}

/* Returns what a line begins with: its severity for a syslog daemon and for the
 * journal. */
static const char *
line_severity(const struct message *m)
{
	if (m->sink == LOG_SINK_SYSLOG)
		return m->is_alert ? "<1>" : severity(m->level);
	if (m->sink == LOG_SINK_STDERR && *log_severity(m->level))
		return m->is_alert ? "<1>" : log_severity(m->level);
	return "";
}

/* -- lines -- */

/* A syslog daemon and the journal add the time and the program's name to a
 * line; a file gets them here. */
static size_t
render_text(const void *record, char *out, size_t size)
{
	const struct message *m = record;
	char time[TIME_TEXT_SIZE + 1] = "";

	if (m->sink == LOG_SINK_FILE) {
		time_text(TIME_RFC3339, m->wall_us, 3, time);
		strcat(time, " ");
	}
	return (size_t)snprintf(out, size, "%s%s%s%s%s%s\n", line_severity(m),
	    time, m->sink == LOG_SINK_SYSLOG ? "" : "lfproxy: ",
	    m->level == LOG_LEVEL_INFO ? "" : log_level_name(m->level),
	    m->level == LOG_LEVEL_INFO ? "" : ": ", m->text);
}

/* Adds a field with a text as its value, unless the text is empty.  bare: a
 * text of one word stands without quotes. */
static size_t
put_field(
    char *out, size_t size, const char *before, const char *text, bool bare)
{
	size_t n;

	if (!*text)
		return 0;
	if (bare && !strpbrk(text, " \"=\\"))
		return (size_t)snprintf(out, size, "%s%s", before, text);
	n = (size_t)snprintf(out, size, "%s\"", before);
	n += escape_json(text, out + n, size - n - 2);
	out[n++] = '"';
	return n;
}

/* The names of the fields, with the characters around them. */
struct field_names {
	const char *time, *level, *event, *about, *message, *end;
	bool bare; /* see put_field */
};

static size_t
render_fields(const struct field_names *names, const struct message *m,
    char *out, size_t size)
{
	char time[TIME_TEXT_SIZE];
	size_t n;

	n = (size_t)snprintf(out, size, "%s", line_severity(m));
	time_text(TIME_RFC3339, m->wall_us, 3, time);
	n += put_field(out + n, size - n, names->time, time, names->bare);
	n += put_field(out + n, size - n, names->level,
	    m->is_alert ? "alert" : log_level_name(m->level), names->bare);
	n += put_field(out + n, size - n, names->event, m->event, names->bare);
	n += put_field(out + n, size - n, names->about, m->about, names->bare);
	n += put_field(out + n, size - n, names->message, m->text, names->bare);
	return n + (size_t)snprintf(out + n, size - n, "%s", names->end);
}

static size_t
render_json(const void *record, char *out, size_t size)
{
	static const struct field_names names = {.time = "{\"time\":",
	    .level = ",\"level\":",
	    .event = ",\"event\":",
	    .about = ",\"about\":",
	    .message = ",\"message\":",
	    .end = "}\n"};

	return render_fields(&names, record, out, size);
}

static size_t
render_logfmt(const void *record, char *out, size_t size)
{
	static const struct field_names names = {.time = "time=",
	    .level = " level=",
	    .event = " event=",
	    .about = " about=",
	    .message = " message=",
	    .end = "\n",
	    .bare = true};

	return render_fields(&names, record, out, size);
}

static const log_render renders[] = {[LOG_MESSAGE_TEXT] = render_text,
    [LOG_MESSAGE_JSON] = render_json,
    [LOG_MESSAGE_LOGFMT] = render_logfmt};

/* -- targets -- */

void
log_messages_format(enum log_message_format format)
{
	lock_acquire_leaf(&targets_lock);
	standard_format = format;
	lock_release(&targets_lock);
}

void
log_messages_to(const struct log_message_targets *there)
{
	lock_acquire_leaf(&targets_lock);
	targets = *there;
	lock_release(&targets_lock);
}

void
log_messages_forget(const struct log_target *target)
{
	size_t n = 0;

	lock_acquire_leaf(&targets_lock);
	for (size_t i = 0; i < targets.n; i++)
		if (targets.at[i].target != target)
			targets.at[n++] = targets.at[i];
	targets.n = n;
	lock_release(&targets_lock);
}

static void
put_message(
    struct log_target *t, enum log_message_format format, struct message *m)
{
	m->sink = t->sink.options.kind;
	(void)log_target_record(t, renders[format], m,
	    offsetof(struct message, text) + strlen(m->text) + 1);
}

static void
fill_message(struct message *m, enum log_level level,
    const struct log_subject *subject, const char *fmt, va_list ap)
{
	m->wall_us = clock_wall_us();
	m->event = subject->event;
	m->level = level;
	m->is_alert = subject->is_alert;
	snprintf(m->about, sizeof(m->about), "%s", subject->about);
	vsnprintf(m->text, sizeof(m->text), fmt, ap);
	printable_clean(m->about, '?');
	printable_clean(m->text, '?');
}

/* A target that is closed is forgotten before, so that it is valid while the
 * lock is held.  Messages about the log go to standard error in any case. */
static void
send_message(struct message *m, bool about_log)
{
	bool to_stderr = false;

	lock_acquire_leaf(&targets_lock);
	for (size_t i = 0; i < targets.n; i++) {
		to_stderr |= targets.at[i].target == &log_standard_error;
		put_message(targets.at[i].target, targets.at[i].format, m);
	}
	if (targets.n == 0 || (about_log && !to_stderr))
		put_message(&log_standard_error, standard_format, m);
	lock_release(&targets_lock);
}

static void
log_va(enum log_level level, const struct log_subject *subject, bool about_log,
    const char *fmt, va_list ap)
{
	struct message m;

	if (level == LOG_LEVEL_WARNING)
		atomic_add_relaxed(&warnings, 1);
	fill_message(&m, level, subject, fmt, ap);
	send_message(&m, about_log);
}

static const struct log_subject no_subject = {.event = "", .about = ""};

void
log_message(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(level, &no_subject, false, fmt, ap);
	va_end(ap);
}

size_t
log_line(char *out, size_t size, const char *fmt, ...)
{
	enum log_message_format format;
	struct message m = {.sink = LOG_SINK_STDERR};
	va_list ap;

	va_start(ap, fmt);
	fill_message(&m, LOG_LEVEL_WARNING, &no_subject, fmt, ap);
	va_end(ap);
	lock_acquire_leaf(&targets_lock);
	format = standard_format;
	for (size_t i = 0; i < targets.n; i++)
		if (targets.at[i].target == &log_standard_error)
			format = targets.at[i].format;
	lock_release(&targets_lock);
	return renders[format](&m, out, size);
}

void
log_about_log(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(level, &no_subject, true, fmt, ap);
	va_end(ap);
}

void
log_event(enum log_level level, const struct log_subject *subject,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(level, subject, false, fmt, ap);
	va_end(ap);
}

bool
log_may(struct log_limit *limit, uint64_t *ret_left_out)
{
	uint64_t now = clock_now_ms(),
	         next = atomic_load_relaxed(&limit->next_ms);

	if (now < next ||
	    !atomic_cas_relaxed(&limit->next_ms, &next, now + 1000)) {
		atomic_add_relaxed(&limit->left_out, 1u);
		return false;
	}
	*ret_left_out = atomic_swap_acq_rel(&limit->left_out, 0u);
	return true;
}

void
log_limited(struct log_limit *limit, enum log_level level, const char *fmt, ...)
{
	char text[LOG_RECORD_SIZE];
	uint64_t left_out;
	va_list ap;
	size_t len;

	if (!log_may(limit, &left_out))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = strlen(text);
	if (left_out > 0)
		snprintf(text + len, sizeof(text) - len,
		    " (and %llu times before)", (unsigned long long)left_out);
	log_message(level, "%s", text);
}
