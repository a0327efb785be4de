/* SPDX-License-Identifier: MIT
 * How sessions end, every way of it: one side ends, and what the other one gets
 * and what the log says is compared with what it has to be.
 *
 *   ends [--patience N] LFPROXY     TAP, one test for each cell
 *
 * A cell is {client, server} x {FIN, RST, FIN then RST, silence until the
 * timer} x {idle, in mid-stream, everything full, unread bytes} x {copy,
 * splice} x {always, adaptive}.  With TLS on the client's side, the server's or
 * both, there are no splicing and one policy, and where X speaks TLS three more
 * ends: a FIN that close_notify does not announce, a fatal alert, and a record
 * that is none.  Every cell has a frontend and a backend of its own in one
 * lfproxy, and is played by a process of its own, all at the same time.
 *
 * X is the side that ends, Y the other one.
 */
#include "tools/ends/cell.h"
#include "tools/ends/play.h"
#include "tools/own_cert.h"
#include "tools/peers.h"

#define AT_ONCE 48

static void
write_cell(FILE *f, unsigned i)
{
	const struct cell *c = &cells[i];
	unsigned short_ms = SILENT_MS * patience, long_ms = 600000;
	bool timer = c->action == SILENCE;

	fprintf(f,
	    "[frontend %s]\nlisten = 127.0.0.1:0%s\nbackend = b%u\npool = %s\n"
	    "splice = %s\ntimeout_client = %ums\ntimeout_handshake = %ums\n"
	    "[backend b%u]\nserver = s 127.0.0.1:%u%s\ncheck = off\n"
	    "timeout_server = %ums\ntimeout_connect = %ums\n",
	    c->name, c->tls & 1 ? " tls=near" : "", i, policy_names[c->policy],
	    c->mode ? "auto" : "off",
	    timer && c->x == CLIENT ? short_ms : long_ms, long_ms, i, c->port,
	    c->tls & 2 ? " tls=far" : "",
	    timer && c->x == SERVER ? short_ms : long_ms, long_ms);
}

static void
start_proxy(struct peers_proxy *proxy, const char *program)
{
	FILE *f = peers_proxy_config(proxy);

	snprintf(
	    certificate, sizeof(certificate), "%s/certificate", proxy->dir);
	if (!own_cert_write(certificate))
		tool_die(TOOL_SYSTEM, "%s: %s", certificate, strerror(errno));
	fprintf(f,
	    "[tls near]\ncert = %s\n[tls far]\nca = %s\nname = localhost\n",
	    certificate, certificate);
	for (unsigned i = 0; i < 2; i++)
		fprintf(f, "[pool %s]\nthreads = 2\npromotion = %s\n",
		    policy_names[i], policy_names[i]);
	for (unsigned i = 0; i < cells_n; i++)
		write_cell(f, i);
	fclose(f);
	peers_proxy_start(proxy, program);
	for (unsigned i = 0; i < cells_n; i++)
		cells[i].port = peers_proxy_port(proxy, cells[i].name);
}

static unsigned
descriptors(const struct peers_proxy *proxy)
{
	char path[64];
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", proxy->pid, fd);
		n += faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return n;
}

static void
cell_ended(pid_t pid, int status)
{
	for (unsigned i = 0; i < cells_n; i++) {
		struct cell *c = &cells[i];

		if (c->pid == pid && status != 0 && !c->wrong[0])
			snprintf(c->wrong, sizeof(c->wrong),
			    "ended with status %d", status);
	}
}

static void
play_all(pid_t proxy_pid)
{
	unsigned begun = 0, running = 0;

	while (begun < cells_n || running > 0) {
		int status;
		pid_t pid;

		if (begun < cells_n && running < AT_ONCE) {
			pid = fork();
			if (pid == 0)
				play_cell(&cells[begun]);
			if (pid < 0)
				tool_die(
				    TOOL_SYSTEM, "fork: %s", strerror(errno));
			cells[begun++].pid = pid;
			running++;
			continue;
		}
		pid = waitpid(-1, &status, 0);
		if (pid == proxy_pid)
			tool_die(TOOL_FAILED,
			    "lfproxy has ended with status %d", status);
		cell_ended(pid, status);
		running--;
	}
}

static const char *
code_of(const struct cell *c)
{
	if (c->action == FIN)
		return "--";
	if (c->action == SILENCE)
		return c->x == CLIENT ? "cD" : "sD";
	return c->x == CLIENT ? "CD" : "SD";
}

/* The one line of the cell's frontend in the log, by the time it has ended. */
static void
judge_log(const struct peers_proxy *proxy, struct cell *c)
{
	uint64_t end_ms = tool_now_ms() + 5000 * patience;
	char *text, *at, what[96], code[3] = "";

	snprintf(what, sizeof(what), "] %s ", c->name);
	for (;;) {
		text = peers_proxy_log(proxy);
		at = strstr(text, what);
		if (at || tool_now_ms() > end_ms)
			break;
		free(text);
		peers_nap();
	}
	if (!at)
		snprintf(c->wrong, sizeof(c->wrong), "no line in the log");
	else if (strstr(at + 1, what))
		snprintf(c->wrong, sizeof(c->wrong), "two lines in the log");
	else if (sscanf(at, "] %*s %*s %*s %*s %2s", code) != 1 ||
	         strcmp(code, code_of(c)) != 0)
		snprintf(c->wrong, sizeof(c->wrong),
		    "the log says %s and not %s", code, code_of(c));
	free(text);
}

static unsigned failures;

static void
result(unsigned number, const char *name, const char *why)
{
	printf("%sok %u ends: %s\n", why[0] ? "not " : "", number, name);
	if (why[0]) {
		printf("# %s\n", why);
		failures++;
	}
}

/* Sessions and, once nobody needs them, pipes. */
static const char *
judge_descriptors(const struct peers_proxy *proxy, unsigned before)
{
	uint64_t end_ms = tool_now_ms() + 10000 * patience;

	while (descriptors(proxy) > before) {
		if (tool_now_ms() > end_ms)
			return "there are more than before the first session";
		peers_nap();
	}
	return "";
}

static const char *
judge_pipes(const struct peers_proxy *proxy)
{
	char info[8192];
	static const char key[] = "PipesCreated: ";
	const char *at;

	peers_proxy_ask(proxy, "show info\n", info, sizeof(info));
	at = strstr(info, key);
	return at && strtoul(at + strlen(key), NULL, 10) > 0
	           ? ""
	           : "no pipe was created";
}

int
main(int argc, char **argv)
{
	struct peers_proxy proxy = {0};
	unsigned before;

	if (argc == 4 && strcmp(argv[1], "--patience") == 0)
		patience = (unsigned)tool_number(argv[2], 100);
	else if (argc != 2) {
		fprintf(stderr, "usage: ends [--patience N] LFPROXY\n");
		return TOOL_USAGE;
	}
	tool_set_deadline(240 * patience);
	tool_raise_descriptors();
	cells_make();
	start_proxy(&proxy, argv[argc - 1]);
	before = descriptors(&proxy);
	printf("1..%u\n", cells_n + 3);
	fflush(stdout);
	play_all(proxy.pid);
	for (unsigned i = 0; i < cells_n; i++) {
		if (!cells[i].wrong[0])
			judge_log(&proxy, &cells[i]);
		result(i + 1, cells[i].name, cells[i].wrong);
	}
	result(cells_n + 1, "splicing took place", judge_pipes(&proxy));
	result(cells_n + 2, "descriptors are back",
	    judge_descriptors(&proxy, before));
	unlink(certificate);
	result(cells_n + 3, "lfproxy stops cleanly",
	    peers_proxy_stop(&proxy, failures > 0) ? "" : "it did not");
	return failures ? TOOL_FAILED : TOOL_OK;
}
