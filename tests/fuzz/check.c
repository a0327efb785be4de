/* SPDX-License-Identifier: MIT
 * What a server, or its agent, may answer to a check: the first letter of an
 * input says to which, the rest is the answer, at the end of which the server
 * closes (small letter) or waits (capital).
 */
#include <ev.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grace.h"
#include "check/checker.h"
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "net/sock.h"

#define TURNS_MAX 60

/* One model and one loop for each, so that nothing but the one is due. */
static const struct kind {
	char letter;
	const char *options;
} kinds[] = {
    {'a', "check = off\nagent = on port=1 interval=1s timeout=1s\n"},
    {'h', "check = http path=/up status=200-399,404 interval=1s timeout=1s\n"
          "check_body = \"well\"\n"
          "check_body = regex \"up|ok\"\n"},
    {'t', "check = send-expect interval=1s timeout=1s\n"
          "check_step = expect \"220 \"\n"
          "check_step = send \"HELO me\\r\\n\"\n"
          "check_step = refuse regex \"^5\"\n"
          "check_step = expect regex \"(?i)welcome.*x\"\n"},
    {'r', "check = redis interval=1s timeout=1s\n"},
    {'m', "check = mysql interval=1s timeout=1s\n"},
    {'p', "check = postgresql interval=1s timeout=1s\n"},
    {'s', "check = smtp interval=1s timeout=1s\n"},
    {'l', "check = tls interval=1s timeout=1s\n"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char config[] = "[global]\n"
                             "log = off\n"
                             "[frontend web]\n"
                             "listen = 127.0.0.1:0\n"
                             "backend = app\n"
                             "[backend app]\n";

static struct site {
	struct ev_loop *loop;
	struct grace *grace;
	struct model *model;
	struct checker *checker;
	int fd; /* listening */
} sites[KINDS];

static struct spec *
load(const char *text, size_t size)
{
	struct spec *spec = NULL;
	struct err_list errors;
	char path[64];
	int fd = memfd_create("ini", MFD_CLOEXEC);

	ENSURE(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err_list_init(&errors);
	if (!config_load_all((const char *[]){path}, 1, NULL, &spec, &errors))
		err_list_print(&errors, "", stderr);
	err_list_fini(&errors);
	close(fd);
	ENSURE(spec);
	return spec;
}

static struct spec *
make_spec(const struct kind *kind, unsigned port)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct spec *spec;

	ENSURE(out);
	fprintf(
	    out, "%s%sserver = s1 127.0.0.1:%u", config, kind->options, port);
	if (kind->letter == 'a')
		fprintf(out, " agent_port=%u", port);
	putc('\n', out);
	ENSURE(fclose(out) == 0);
	spec = load(text, n);
	free(text);
	return spec;
}

static void
start(const struct kind *kind, struct site *site)
{
	struct addr addr;
	struct err err;

	ENSURE(addr_parse("127.0.0.1:0", ADDR_LISTEN, &addr, &err));
	site->fd = sock_listen(&addr, false, 0, &err);
	ENSURE(site->fd >= 0 && sock_local_addr(site->fd, &addr));
	site->loop = ev_loop_new(EVFLAG_AUTO);
	site->grace = grace_new();
	ENSURE(site->loop && site->grace);
	site->model =
	    model_new(make_spec(kind, addr_port(&addr)), site->grace, NULL);
	ENSURE(site->model);
	ENSURE(checker_new(site->loop, site->model, &site->checker) == 0);
}

static void
end(void)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct site *site = &sites[i];

		if (!site->loop)
			continue;
		checker_free(site->checker);
		model_free(site->model);
		grace_free(site->grace);
		ev_loop_destroy(site->loop);
		close(site->fd);
	}
}

/* The next connection, for which time passes. */
static int
accept_check(struct site *site)
{
	for (int i = 0; i < TURNS_MAX; i++) {
		int fd;

		ev_run(site->loop, EVRUN_NOWAIT);
		fd =
		    accept4(site->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		fuzz_pass_ms(100);
	}
	return -1;
}

static void
hear_all(struct site *site, int fd)
{
	char request[4096];

	for (int i = 0; i < 4; i++) {
		ev_run(site->loop, EVRUN_NOWAIT);
		(void)recv(fd, request, sizeof(request), MSG_DONTWAIT);
	}
}

/* A reset, so that a million connections leave no ports waiting. */
static void
answer(struct site *site, int fd, const uint8_t *data, size_t size, bool wait)
{
	size_t first = size % 2 ? size / 2 : 0;

	hear_all(site, fd);
	if (first > 0) {
		(void)send(fd, data, first, MSG_NOSIGNAL | MSG_DONTWAIT);
		hear_all(site, fd);
	}
	(void)send(fd, data + first, size - first, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (!wait)
		shutdown(fd, SHUT_WR);
	hear_all(site, fd);
	sock_close_reset(fd);
	ev_run(site->loop, EVRUN_NOWAIT);
	/* What came had to be judged within the timeout. */
	if (wait)
		fuzz_pass_ms(1000);
	ev_run(site->loop, EVRUN_NOWAIT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	for (size_t i = 0; size > 0 && i < KINDS; i++) {
		struct site *site = &sites[i];

		if ((data[0] | 0x20) != kinds[i].letter)
			continue;
		if (!site->loop) {
			static bool ends;

			start(&kinds[i], site);
			if (!ends)
				atexit(end);
			ends = true;
		}
		fd = accept_check(site);
		ENSURE(fd >= 0);
		answer(site, fd, data + 1, size - 1, !(data[0] & 0x20));
		return 0;
	}
	return -1; /* not worth keeping */
}
