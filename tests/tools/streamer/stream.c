/* SPDX-License-Identifier: MIT
 * See stream.h.
 */
#include "tools/streamer/stream.h"

#include <sys/epoll.h>

#define SEARCH (1u << 20) /* where wrong bytes are looked for */

const char *const mode_names[MODES] = {"both", "echo", "first"};

struct streamer_options opt = {
    .name = "-", .connections = 1, .repeat = 1, .seed = 1, .chunk = BUFFER};
struct stream_sums sum;
int epoll_fd;
SSL_CTX *context;
uint64_t random_state;
volatile sig_atomic_t reading_allowed = 1;
static unsigned char scratch[BUFFER + 8];

uint64_t
random_below(uint64_t n)
{
	return tool_mix(random_state++) % n;
}

void
stream_generate(uint64_t seed, uint64_t offset, unsigned char *out, size_t len)
{
	uint64_t base = tool_mix(seed), word = 0;
	size_t done = 0, skip, n;

	while (done < len) {
		word = tool_mix(base + (offset + done) / 8);
		skip = (size_t)((offset + done) % 8);
		n = 8 - skip < len - done ? 8 - skip : len - done;
		memcpy(out + done, (unsigned char *)&word + skip, n);
		done += n;
	}
}

/* Says what the bytes look like that should not be there. */
static void
explain(struct stream *s, const unsigned char *got, size_t len, uint64_t at)
{
	unsigned char want[16];
	uint64_t from = at > SEARCH ? at - SEARCH : 0;

	fprintf(stderr, "streamer: stream=%u peer=%s mismatch offset=%llu",
	    s->id, s->peer, (unsigned long long)at);
	stream_generate(s->rx_seed, at, want, 1);
	fprintf(stderr, " expected=%02x got=%02x", want[0], got[0]);
	for (uint64_t o = from; len >= 16 && o < at + SEARCH; o++) {
		stream_generate(s->rx_seed, o, want, 16);
		if (memcmp(want, got, 16) != 0)
			continue;
		fprintf(stderr, " %s=%llu", o > at ? "lost" : "repeated",
		    (unsigned long long)(o > at ? o - at : at - o));
		break;
	}
	fputc('\n', stderr);
}

static bool
verify(struct stream *s, const unsigned char *got, size_t len)
{
	static unsigned char want[BUFFER];
	size_t i = 0;

	if (len > s->rx_total - s->rx_off) {
		fprintf(stderr,
		    "streamer: stream=%u more than %llu bytes came\n", s->id,
		    (unsigned long long)s->rx_total);
		return false;
	}
	stream_generate(s->rx_seed, s->rx_off, want, len);
	if (memcmp(got, want, len) == 0) {
		s->rx_off += len;
		return true;
	}
	while (got[i] == want[i])
		i++;
	explain(s, got + i, len - i, s->rx_off + i);
	return false;
}

/* -- the protocol's lines -- */

void
stream_put_line(struct stream *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	s->out_len += (size_t)vsnprintf(
	    s->out + s->out_len, LINE_SIZE - s->out_len, fmt, args);
	va_end(args);
}

static bool
start_server_stream(struct stream *s)
{
	unsigned long long up, down, seed;
	char mode[16];

	if (sscanf(s->line, "LFS1 %15s %llu %llu %llu", mode, &up, &down,
	        &seed) != 4) {
		fprintf(stderr, "streamer: no header: %s\n", s->line);
		return false;
	}
	while (s->mode < MODES && strcmp(mode_names[s->mode], mode) != 0)
		s->mode++;
	if (s->mode == MODES)
		return false;
	s->rx_total = up;
	s->rx_seed = seed;
	s->tx_total = down;
	s->tx_seed = seed + DOWN_SEED;
	if (s->mode == MODE_ECHO) {
		s->echo = malloc(BUFFER);
		if (!s->echo)
			tool_die(TOOL_SYSTEM, "out of memory");
	}
	stream_put_line(s, "%.60s\n", opt.name);
	s->started = true;
	return true;
}

static bool
take_line(struct stream *s)
{
	s->line[s->line_len] = '\0';
	s->line_len = 0;
	if (s->reading == READ_TRAILER) {
		unsigned long long n;

		s->reading = READ_END;
		return sscanf(s->line, "ok %llu", &n) == 1 && n == s->tx_total;
	}
	if (opt.server && !start_server_stream(s))
		return false;
	if (!opt.server)
		snprintf(s->peer, sizeof(s->peer), "%.63s", s->line);
	s->reading = READ_BYTES;
	return true;
}

static void
after_last_byte(struct stream *s)
{
	if (s->reading != READ_BYTES || s->rx_off < s->rx_total)
		return;
	if (opt.server || s->mode == MODE_FIRST)
		s->reading = READ_END;
	else
		s->reading = READ_TRAILER;
}

/* -- the connection, plain or with TLS -- */

/* Translates a call's failure into errno, EAGAIN or another; an announced end
 * is 0. */
static ssize_t
tls_result(struct stream *s, int rc)
{
	if (rc > 0)
		return rc;
	if (SSL_get_error(s->ssl, rc) == SSL_ERROR_ZERO_RETURN)
		return 0;
	if (tls_waits(s->ssl, rc)) {
		errno = EAGAIN;
		return -1;
	}
	fprintf(stderr, "streamer: stream=%u TLS: %s\n", s->id, tls_reason());
	errno = ECONNRESET;
	return -1;
}

static void
tls_forget_errors(void)
{
	errno = 0;
	ERR_clear_error();
}

static ssize_t
stream_recv(struct stream *s, void *to, size_t n)
{
	if (!s->ssl)
		return recv(s->fd, to, n, 0);
	tls_forget_errors();
	return tls_result(s, SSL_read(s->ssl, to, (int)n));
}

static ssize_t
stream_send(struct stream *s, const void *from, size_t n)
{
	ssize_t rc;

	if (!s->ssl)
		return send(s->fd, from, n, MSG_NOSIGNAL);
	tls_forget_errors();
	rc = tls_result(s, SSL_write(s->ssl, from, (int)n));
	/* OpenSSL says so of every failure behind the peer's close_notify. */
	if (rc == 0) {
		errno = EPIPE;
		rc = -1;
	}
	return rc;
}

/* Ends this half; false: later. */
static bool
stream_end_half(struct stream *s)
{
	int rc;

	if (!s->ssl) {
		shutdown(s->fd, SHUT_WR);
		return true;
	}
	tls_forget_errors();
	rc = SSL_shutdown(s->ssl);
	return rc >= 0 || !tls_waits(s->ssl, rc);
}

/* Goes on with the handshake; false when it has failed. */
static bool
stream_shake(struct stream *s)
{
	tls_forget_errors();
	return tls_result(s, SSL_do_handshake(s->ssl)) > 0 || errno == EAGAIN;
}

static bool
is_shaking(const struct stream *s)
{
	return s->ssl && !SSL_is_init_finished(s->ssl);
}

/* -- receiving -- */

static bool
take_bytes(struct stream *s, const unsigned char *got, size_t len)
{
	size_t n;

	while (len > 0) {
		if (s->reading == READ_END) {
			fprintf(stderr,
			    "streamer: stream=%u %zu bytes after "
			    "the last one\n",
			    s->id, len);
			return false;
		}
		if (s->reading != READ_BYTES) {
			if (*got != '\n' && s->line_len == LINE_SIZE - 1)
				return false;
			n = 1;
			if (*got != '\n')
				s->line[s->line_len++] = (char)*got;
			else if (!take_line(s))
				return false;
		} else {
			n = len;
			if (n > s->rx_total - s->rx_off)
				n = (size_t)(s->rx_total - s->rx_off);
			if (s->echo)
				memcpy(s->echo + s->echo_len, got, n);
			if (s->echo)
				s->echo_len += n;
			if (!verify(s, got, n))
				return false;
		}
		after_last_byte(s);
		got += n;
		len -= n;
	}
	return true;
}

static bool
take_end(struct stream *s)
{
	if (s->reading == READ_END) {
		s->reading = READ_DONE;
		return true;
	}
	fprintf(stderr,
	    "streamer: stream=%u peer=%s end at offset=%llu of %llu\n", s->id,
	    s->peer, (unsigned long long)s->rx_off,
	    (unsigned long long)s->rx_total);
	return false;
}

static size_t
receive_room(const struct stream *s)
{
	if (s->reading == READ_DONE || s->rx_at_ms > 0 || !reading_allowed)
		return 0;
	return s->echo ? BUFFER - s->echo_len : BUFFER;
}

static bool
receive(struct stream *s)
{
	size_t room = receive_room(s);
	ssize_t n;

	if (room == 0)
		return true;
	n = stream_recv(s, scratch, room);
	if (n < 0 && errno == EAGAIN)
		return true;
	if (n < 0) {
		fprintf(stderr,
		    "streamer: stream=%u peer=%s receive: %s at "
		    "offset=%llu\n",
		    s->id, s->peer, strerror(errno),
		    (unsigned long long)s->rx_off);
		return false;
	}
	if (n == 0)
		return take_end(s);
	if (!take_bytes(s, scratch, (size_t)n)) {
		s->corrupt = true;
		return false;
	}
	if (opt.pause_ms > 0 && random_below(16) == 0)
		s->rx_at_ms = tool_now_ms() + random_below(opt.pause_ms + 1);
	return true;
}

/* -- sending -- */

/* How far this side may send at present. */
static uint64_t
send_limit(const struct stream *s)
{
	if (s->mode == MODE_FIRST && !opt.server && s->reading != READ_DONE)
		return s->tx_total / 2;
	return s->tx_total;
}

static size_t
next_chunk(const struct stream *s, const unsigned char **ret_from)
{
	uint64_t n = opt.chunk ? opt.chunk
	                       : (1ull << random_below(16)) + random_below(64);
	uint64_t left = send_limit(s) - s->tx_off;

	if (s->echo) {
		*ret_from = s->echo + s->echo_sent;
		left = s->echo_len - s->echo_sent;
		return (size_t)(n < left ? n : left);
	}
	if (n > left)
		n = left;
	stream_generate(s->tx_seed, s->tx_off, scratch, (size_t)n);
	*ret_from = scratch;
	return (size_t)n;
}

/* What comes after the last byte of this side, if it is time for it. */
static void
end_sending(struct stream *s)
{
	bool first = s->mode == MODE_FIRST;

	if (s->sending == SEND_BYTES && s->tx_off == s->tx_total) {
		if (opt.server && !first && s->reading != READ_DONE)
			return;
		s->sending = SEND_TRAILER;
		if (opt.server && !first)
			stream_put_line(
			    s, "ok %llu\n", (unsigned long long)s->rx_off);
	}
	if (s->sending == SEND_TRAILER && s->out_len == 0 && stream_end_half(s))
		s->sending = SEND_DONE;
}

static bool
has_to_send(const struct stream *s)
{
	if (!s->started || s->sending == SEND_DONE)
		return false;
	if (s->out_len > 0 || s->sending == SEND_TRAILER)
		return true;
	if (s->sending != SEND_BYTES || s->tx_at_ms > 0)
		return false;
	return s->echo ? s->echo_sent < s->echo_len : s->tx_off < send_limit(s);
}

static void
sent(struct stream *s, size_t n)
{
	if (s->out_len > 0) {
		s->out_sent += n;
		if (s->out_sent == s->out_len)
			s->out_sent = s->out_len = 0;
		if (s->out_len == 0 && s->sending == SEND_LINE)
			s->sending = SEND_BYTES;
		return;
	}
	s->tx_off += n;
	if (s->echo) {
		s->echo_sent += n;
		if (s->echo_sent == s->echo_len)
			s->echo_sent = s->echo_len = 0;
	}
	if (opt.pause_ms > 0 && random_below(16) == 0)
		s->tx_at_ms = tool_now_ms() + random_below(opt.pause_ms + 1);
}

static bool
send_some(struct stream *s)
{
	const unsigned char *from;
	size_t len;
	ssize_t n;

	for (int turn = 0; turn < 8 && has_to_send(s); turn++) {
		if (s->sending == SEND_TRAILER && s->out_len == 0)
			break;
		from = (unsigned char *)s->out + s->out_sent;
		len = s->out_len - s->out_sent;
		if (s->out_len == 0)
			len = next_chunk(s, &from);
		n = stream_send(s, from, len);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			fprintf(stderr,
			    "streamer: stream=%u peer=%s send: %s "
			    "at offset=%llu\n",
			    s->id, s->peer, strerror(errno),
			    (unsigned long long)s->tx_off);
			return false;
		}
		sent(s, (size_t)n);
	}
	end_sending(s);
	return true;
}

/* -- streams -- */

/* Returns whether bytes wait in the TLS library, where epoll does not see
 * them. */
static bool
has_hidden_bytes(const struct stream *s)
{
	return s->ssl && SSL_pending(s->ssl) > 0 && receive_room(s) > 0;
}

static uint32_t
wanted_events(const struct stream *s)
{
	uint32_t want = 0;

	if (is_shaking(s))
		return SSL_want_read(s->ssl) ? EPOLLIN : EPOLLOUT;
	if (receive_room(s) > 0)
		want |= EPOLLIN;
	if (has_to_send(s) || has_hidden_bytes(s))
		want |= EPOLLOUT;
	return want;
}

void
stream_set_interest(struct stream *s)
{
	struct epoll_event ev = {.data.ptr = s};
	uint32_t want = wanted_events(s);

	if (want == s->interest)
		return;
	ev.events = s->interest = want;
	epoll_ctl(epoll_fd, EPOLL_CTL_MOD, s->fd, &ev);
}

void
stream_open(struct stream *s, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = s};
	unsigned id = s->id;

	memset(s, 0, sizeof(*s));
	s->id = id;
	s->fd = fd;
	s->interest = EPOLLIN;
	if (opt.secure)
		s->ssl = tls_open(context, &opt.tls, fd, opt.server);
	strcpy(s->peer, "-");
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

/* Counts a broken stream: as lost when its server was allowed to die, as
 * unnamed when it broke before its server could say its name. */
static void
count_failure(const struct stream *s)
{
	if (s->corrupt)
		sum.failed++;
	else if (opt.allow_loss && strcmp(s->peer, opt.allow_loss) == 0)
		sum.lost++;
	else if (opt.allow_loss && strcmp(s->peer, "-") == 0)
		sum.unnamed++;
	else
		sum.failed++;
}

void
stream_close(struct stream *s, bool ok)
{
	if (ok)
		sum.ok++;
	else
		count_failure(s);
	sum.up += opt.server ? s->rx_off : s->tx_off;
	sum.down += opt.server ? s->tx_off : s->rx_off;
	SSL_free(s->ssl);
	s->ssl = NULL;
	close(s->fd);
	s->fd = -1;
	free(s->echo);
	s->echo = NULL;
}

bool
stream_serve(struct stream *s, uint32_t events)
{
	bool ok = !is_shaking(s) || stream_shake(s);

	if (ok && is_shaking(s)) {
		stream_set_interest(s);
		return true;
	}
	if (ok && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		ok = receive(s);
	if (ok)
		ok = send_some(s);
	while (ok && has_hidden_bytes(s))
		ok = receive(s) && send_some(s);
	if (ok && (s->reading != READ_DONE || s->sending != SEND_DONE)) {
		stream_set_interest(s);
		return true;
	}
	stream_close(s, ok);
	return false;
}
