/* SPDX-License-Identifier: MIT
 * The same script, run between two peers directly and through lfproxy, must
 * give both peers the same bytes and the same end.
 *
 *   twins [--scripts N] [--seed N] [--patience N] LFPROXY
 *
 * TAP on standard output, one test for each script.
 *
 * A script is a random list of sends, pauses, slow reads, half-closes and
 * resets.  One that makes a difference is shrunk before it is printed.
 *
 * What is not compared, because TCP does not promise it: what a peer that
 * resets had received before, and what is sent to it afterwards.  Before a
 * reset its sender waits until the other side's TCP has its bytes, and both
 * have seen the FINs that were sent; afterwards the other side sees the reset
 * before it goes on.
 */
#include <getopt.h>
#include <sys/mman.h>

#include "peers.h"

#define STEPS_MAX 12
#define WORKERS   4
#define KINDS     4
#define LIMIT_MS  15000

enum op { SEND, PAUSE, SLOW, FIN, RST };
static const char *const op_names[] = {
    "sends", "waits ms", "reads per ms", "half-closes", "resets"};
static const char *const kind_names[KINDS] = {
    "copy.adaptive", "splice.adaptive", "copy.always", "splice.always"};

struct step {
	enum op op;
	unsigned who; /* 0: the client */
	uint32_t amount;
};

struct script {
	uint64_t seed;
	unsigned n;
	struct step steps[STEPS_MAX];
};

enum end { END_FIN, END_RST, END_NONE, END_WRONG };
static const char *const end_names[] = {"FIN", "RST", "no end", "wrong bytes"};

/* What a peer got. */
struct fate {
	bool resets; /* it reset the connection itself: the rest is void */
	uint64_t received;
	enum end end;
};

struct peer {
	int fd; /* -1: it has reset */
	uint64_t seed, want, sent, received;
	uint32_t per_ms; /* reads so much, 0: as much as there is */
	uint64_t read_ms;
	bool fin_wanted, fin, eof, error, wrong;
};

struct outcome {
	bool bad;
	char text[1500];
};

struct worker {
	int listener[KINDS];
	unsigned direct[KINDS], proxied[KINDS]; /* ports */
};

static struct worker workers[WORKERS];
static struct outcome *outcomes; /* shared by the workers */
static uint64_t limit_ms, patience = 1;

static uint64_t
next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct step
random_step(uint64_t *state, bool big)
{
	uint64_t dice = next_random(state) % 100, r = next_random(state);
	struct step s = {.who = (unsigned)(next_random(state) % 2)};

	if (dice < 50) {
		s.op = SEND;
		s.amount = (uint32_t)(big     ? 100000 + r % 1500000
		                      : r % 2 ? 1 + r / 2 % 2000
		                              : 1 + r / 2 % 100000);
	} else if (dice < 62) {
		s.op = PAUSE;
		s.amount = (uint32_t)(1 + r % 5);
	} else if (dice < 78) {
		s.op = SLOW;
		s.amount = (uint32_t)(20000 + r % 200000);
	} else {
		s.op = dice < 92 ? FIN : RST;
	}
	return s;
}

static struct script
random_script(uint64_t seed, bool big)
{
	struct script s = {.seed = seed};
	uint64_t state = seed;

	s.n = 2 + (unsigned)(next_random(&state) % (STEPS_MAX - 2));
	for (unsigned i = 0; i < s.n; i++)
		s.steps[i] = random_step(&state, big);
	return s;
}

static void
push(struct peer *p)
{
	uint8_t data[65536];

	while (p->fd >= 0 && !p->error && p->sent < p->want) {
		size_t size = p->want - p->sent < sizeof(data)
		                  ? (size_t)(p->want - p->sent)
		                  : sizeof(data);
		ssize_t n;

		peers_fill(data, size, p->seed, p->sent);
		n = send(p->fd, data, size, MSG_NOSIGNAL);
		if (n < 0) {
			p->error = errno != EAGAIN;
			return;
		}
		p->sent += (uint64_t)n;
	}
	if (p->fd >= 0 && p->fin_wanted && !p->fin && p->sent == p->want) {
		shutdown(p->fd, SHUT_WR);
		p->fin = true;
	}
}

static bool
pull(struct peer *p, const struct peer *from)
{
	uint8_t data[65536];
	uint64_t now_ms = tool_now_ms();
	size_t size = sizeof(data);
	ssize_t n;

	if (p->fd < 0 || p->eof || (p->per_ms && p->read_ms == now_ms))
		return false;
	p->read_ms = now_ms;
	if (p->per_ms && p->per_ms < size)
		size = p->per_ms;
	n = recv(p->fd, data, size, MSG_DONTWAIT);
	if (n > 0) {
		p->wrong |=
		    !peers_match(data, (size_t)n, from->seed, p->received);
		p->received += (uint64_t)n;
	} else if (n == 0) {
		p->eof = true;
	} else if (errno != EAGAIN) {
		p->error = true;
		/* What lies behind an error that a send has fetched. */
		p->eof = recv(p->fd, data, 1, MSG_DONTWAIT | MSG_PEEK) <= 0;
	}
	return n > 0;
}

/* A reset that follows a FIN shows in no other way. */
static void
look(struct peer *p)
{
	struct pollfd pfd = {.fd = p->fd};

	if (p->fd >= 0 && poll(&pfd, 1, 0) > 0 && pfd.revents & POLLERR)
		p->error = true;
}

/* Lets both sides do what they can; false when time is up. */
static bool
pump(struct peer peers[2])
{
	bool moved = false;

	for (unsigned i = 0; i < 2; i++) {
		push(&peers[i]);
		moved |= pull(&peers[i], &peers[!i]);
		look(&peers[i]);
	}
	if (!moved) {
		struct pollfd pfds[2];
		struct timespec ts = {.tv_nsec = 300000};

		for (unsigned i = 0; i < 2; i++)
			pfds[i] = (struct pollfd){.fd = peers[i].fd,
			    .events =
			        peers[i].eof || peers[i].per_ms ? 0 : POLLIN};
		if (peers[0].eof || peers[1].eof || peers[0].error ||
		    peers[1].error)
			nanosleep(&ts, NULL);
		else
			(void)poll(pfds, 2, 1);
	}
	return tool_now_ms() < limit_ms;
}

static bool
may_reset(const struct peer *p, const struct peer *other)
{
	if (p->error)
		return true;
	return p->sent == p->want && (!p->fin_wanted || other->eof) &&
	       (!other->fin_wanted || p->eof) &&
	       peers_unacknowledged(p->fd) == 0;
}

/* After both FINs there is nothing left to be reset. */
static void
reset(struct peer peers[2], unsigned who)
{
	struct peer *p = &peers[who], *other = &peers[!who];

	if (p->fd < 0 || other->fd < 0)
		return;
	while (!may_reset(p, other))
		if (!pump(peers))
			return;
	if (p->eof && other->eof)
		return;
	tool_reset(p->fd);
	p->fd = -1;
	/* It must know before it sends a FIN: after two FINs no reset can be
	 * told. */
	while (!other->error)
		if (!pump(peers))
			return;
}

static void
take_step(struct peer peers[2], const struct step *s)
{
	struct peer *p = &peers[s->who];
	uint64_t end_ms;

	switch (s->op) {
	case SEND:
		if (!p->fin_wanted)
			p->want += s->amount;
		break;
	case PAUSE:
		end_ms = tool_now_ms() + s->amount;
		while (tool_now_ms() < end_ms && pump(peers))
			;
		break;
	case SLOW:
		p->per_ms = s->amount;
		break;
	case FIN:
		p->fin_wanted = true;
		break;
	case RST:
		reset(peers, s->who);
		break;
	}
}

static bool
ended(const struct peer *p, const struct peer *other)
{
	return p->fd < 0 || (p->eof && (p->error || other->fd >= 0));
}

static void
finish(struct peer peers[2])
{
	for (unsigned i = 0; i < 2; i++) {
		peers[i].fin_wanted = true;
		peers[i].per_ms = 0;
	}
	while (!ended(&peers[0], &peers[1]) || !ended(&peers[1], &peers[0]))
		if (!pump(peers))
			return;
}

static void
run(const struct script *script, unsigned port, int listener,
    struct fate ret_fates[2])
{
	struct peer peers[2] = {{.seed = 1, .want = 1}, {.seed = 2, .want = 1}};

	limit_ms = tool_now_ms() + LIMIT_MS * patience;
	peers[0].fd = peers_connect(port);
	peers[1].fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	/* Before that a reset would only mean another attempt to connect. */
	while (peers[0].received == 0 || peers[1].received == 0)
		if (!pump(peers))
			break;
	for (unsigned i = 0; i < script->n; i++)
		take_step(peers, &script->steps[i]);
	finish(peers);
	for (unsigned i = 0; i < 2; i++) {
		struct peer *p = &peers[i];

		ret_fates[i] = (struct fate){.resets = p->fd < 0,
		    .received = p->received,
		    .end = p->wrong                ? END_WRONG
		           : !ended(p, &peers[!i]) ? END_NONE
		           : p->error              ? END_RST
		                                   : END_FIN};
		if (p->fd >= 0)
			close(p->fd);
	}
}

static bool
alike(const struct fate *a, const struct fate *b)
{
	if (a->resets && b->resets)
		return true;
	return a->resets == b->resets && a->received == b->received &&
	       a->end == b->end && a->end <= END_RST;
}

static bool
differs(const struct script *script, const struct worker *w, unsigned kind,
    struct fate ret_fates[4])
{
	run(script, w->direct[kind], w->listener[kind], ret_fates);
	run(script, w->proxied[kind], w->listener[kind], ret_fates + 2);
	return !alike(&ret_fates[0], &ret_fates[2]) ||
	       !alike(&ret_fates[1], &ret_fates[3]);
}

static bool
still_differs(
    const struct script *script, const struct worker *w, unsigned kind)
{
	struct fate fates[4];

	for (int i = 0; i < 3; i++)
		if (differs(script, w, kind, fates))
			return true;
	return false;
}

/* Leaves out step by step and halves amounts, as long as it still differs. */
static void
shrink(struct script *script, const struct worker *w, unsigned kind)
{
	uint64_t end_ms = tool_now_ms() + 20000;
	struct script try;

	for (unsigned i = 0; i < script->n && tool_now_ms() < end_ms;) {
		try = *script;
		memmove(&try.steps[i], &try.steps[i + 1],
		    (try.n - i - 1) * sizeof(try.steps[0]));
		try.n--;
		if (still_differs(&try, w, kind))
			*script = try;
		else
			i++;
	}
	for (unsigned i = 0; i < script->n; i++) {
		while (script->steps[i].amount > 1 && tool_now_ms() < end_ms) {
			try = *script;
			try.steps[i].amount /= 2;
			if (!still_differs(&try, w, kind))
				break;
			*script = try;
		}
	}
}

static void
describe(const struct script *script, const struct fate fates[4], char *out,
    size_t size)
{
	static const char *const names[] = {"client", "server"};
	size_t len = 0;

	for (unsigned i = 0; i < script->n && len < size; i++) {
		const struct step *s = &script->steps[i];

		len += (size_t)snprintf(out + len, size - len, "# %s %s",
		    names[s->who], op_names[s->op]);
		if (len < size)
			len += (size_t)snprintf(out + len, size - len,
			    s->op < FIN ? " %u\n" : "\n", s->amount);
	}
	for (unsigned i = 0; i < 4 && len < size; i++)
		len += (size_t)snprintf(out + len, size - len,
		    "# %s: the %s %s %llu bytes, %s\n",
		    i < 2 ? "directly" : "through lfproxy", names[i % 2],
		    fates[i].resets ? "resets;" : "gets",
		    (unsigned long long)fates[i].received,
		    end_names[fates[i].end]);
}

static void
check(unsigned number, uint64_t seed, const struct worker *w)
{
	unsigned kind = number / WORKERS % KINDS;
	struct script s = random_script(seed + number, kind % 2);
	struct outcome *o = &outcomes[number];
	struct fate fates[4];

	o->bad = differs(&s, w, kind, fates);
	if (!o->bad)
		return;
	describe(&s, fates, o->text, sizeof(o->text) / 2);
	shrink(&s, w, kind);
	(void)differs(&s, w, kind, fates);
	strcat(o->text, "# shrunk:\n");
	describe(&s, fates, o->text + strlen(o->text),
	    sizeof(o->text) - strlen(o->text));
}

static void
start_proxy(struct peers_proxy *proxy, const char *program)
{
	FILE *f = peers_proxy_config(proxy);
	char name[64];

	fprintf(f, "[pool adaptive]\nthreads = 2\n"
	           "[pool always]\nthreads = 2\npromotion = always\n");
	for (unsigned i = 0; i < WORKERS * KINDS; i++) {
		struct worker *w = &workers[i / KINDS];
		unsigned kind = i % KINDS;

		w->listener[kind] = peers_listen(&w->direct[kind]);
		fprintf(f,
		    "[frontend f%u]\nlisten = 127.0.0.1:0\nbackend = b%u\n"
		    "pool = %s\nsplice = %s\n[backend b%u]\n"
		    "server = s 127.0.0.1:%u\ncheck = off\n",
		    i, i, kind < 2 ? "adaptive" : "always",
		    kind % 2 ? "auto" : "off", i, w->direct[kind]);
	}
	fclose(f);
	peers_proxy_start(proxy, program);
	for (unsigned i = 0; i < WORKERS * KINDS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		workers[i / KINDS].proxied[i % KINDS] =
		    peers_proxy_port(proxy, name);
	}
}

static void
run_all(unsigned scripts, uint64_t seed)
{
	int status;

	for (unsigned i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			tool_die(TOOL_SYSTEM, "fork: %s", strerror(errno));
		if (pid > 0)
			continue;
		for (unsigned n = i; n < scripts; n += WORKERS)
			check(n, seed, &workers[i]);
		_exit(TOOL_OK);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		if (wait(&status) < 0 || status != 0)
			tool_die(TOOL_SYSTEM, "a worker ended with %d", status);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"scripts", required_argument, NULL, 'n'},
	    {"seed", required_argument, NULL, 's'},
	    {"patience", required_argument, NULL, 'p'}, {0}};
	unsigned scripts = 200, failures = 0;
	struct peers_proxy proxy = {0};
	uint64_t seed = 1;
	int option;
	bool stopped;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'n')
			scripts = (unsigned)tool_number(optarg, 1000000);
		else if (option == 's')
			seed = tool_number(optarg, UINT64_MAX);
		else if (option == 'p')
			patience = tool_number(optarg, 100);
		else
			return TOOL_USAGE;
	}
	if (argc - optind != 1) {
		fprintf(stderr,
		    "usage: twins [--scripts N] [--seed N] [--patience N] "
		    "LFPROXY\n");
		return TOOL_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	outcomes = mmap(NULL, (scripts + 1) * sizeof(*outcomes),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcomes == MAP_FAILED)
		tool_die(TOOL_SYSTEM, "mmap: %s", strerror(errno));
	start_proxy(&proxy, argv[optind]);
	printf("1..%u\n", scripts + 1);
	fflush(stdout);
	run_all(scripts, seed);
	for (unsigned i = 0; i < scripts; i++) {
		failures += outcomes[i].bad;
		printf("%sok %u twins: script %llu, %s\n%s",
		    outcomes[i].bad ? "not " : "", i + 1,
		    (unsigned long long)(seed + i),
		    kind_names[i / WORKERS % KINDS], outcomes[i].text);
	}
	stopped = peers_proxy_stop(&proxy, failures > 0);
	printf("%sok %u twins: lfproxy stops cleanly\n", stopped ? "" : "not ",
	    scripts + 1);
	return failures || !stopped ? TOOL_FAILED : TOOL_OK;
}
