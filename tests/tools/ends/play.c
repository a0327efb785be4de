/* SPDX-License-Identifier: MIT
 * See play.h.
 */
#include "tools/ends/play.h"

#include <openssl/err.h>

#include "tools/ends/cell.h"
#include "tools/ends/peer.h"
#include "tools/peers.h"

#define WARM   (384u * 1024)
#define STREAM (3u * 1024 * 1024)
#define SOME   60000u
#define RECORD (16u * 1024 + 512) /* no record is longer */

/* The other direction still works after the FIN, and then ends in its turn. */
static void
play_fin(struct peer *x, struct peer *y)
{
	peer_send_fin(x, y);
	peer_read_to_end(y, x, "Y waits for X's FIN");
	peer_expect_fin(y, "Y");
	peer_expect_received(y, x->sent, "Y");
	peer_send(y, SOME);
	peer_send_fin(y, x);
	peer_read_to_end(x, y, "X waits for Y's FIN");
	peer_expect_fin(x, "X");
	peer_expect_received(x, y->sent, "X");
}

/* What lfproxy's kernel has acknowledged has to arrive, then the reset. */
static void
play_rst(struct peer *x, struct peer *y)
{
	uint64_t least;

	if (me->action == FIN_RST) {
		/* Announced if there is room for that. */
		if (x->ssl)
			(void)SSL_shutdown(x->ssl);
		ERR_clear_error();
		shutdown(x->fd, SHUT_WR);
		if (me->context == IDLE || me->context == UNREAD) {
			peer_read_to_end(y, x, "Y waits for X's FIN");
			peer_expect_fin(y, "Y");
		}
	}
	if (me->context != FULL)
		peer_until_acknowledged(x);
	least = x->sent - (me->context == FULL
	                          ? (uint64_t)peers_unacknowledged(x->fd) +
	                                (x->ssl ? RECORD : 0)
	                          : 0);
	tool_reset(x->fd);
	peer_read_to_end(y, x, "Y waits for the end");
	if (me->action == FIN_RST && y->eof)
		peer_until_error(y);
	peer_expect_rst(y, "Y");
	if (y->received < least)
		cell_wrong("Y: %llu bytes arrived, %llu were acknowledged",
		    (unsigned long long)y->received, (unsigned long long)least);
}

/* OpenSSL sends a fatal alert when it reads what is no record. */
static void
send_alert(struct peer *x)
{
	static const uint8_t record[40] = {23, 3, 3, 0, 35};
	BIO *bio = BIO_new(BIO_s_mem());
	char byte;

	if (!bio || BIO_write(bio, record, sizeof(record)) != sizeof(record))
		cell_wrong("out of memory");
	SSL_set0_rbio(x->ssl, bio);
	while (SSL_read(x->ssl, &byte, 1) > 0)
		;
	ERR_clear_error();
}

/* All that X has sent arrives, then a reset. */
static void
play_broken(struct peer *x, struct peer *y)
{
	static const uint8_t garbage[45] = {23, 3, 3, 0, 40};

	peer_settle(x, y);
	if (me->action == CUT)
		shutdown(x->fd, SHUT_WR);
	else if (me->action == ALERT)
		send_alert(x);
	else if (send(x->fd, garbage, sizeof(garbage), MSG_NOSIGNAL) < 0)
		cell_wrong(
		    "sending bytes that are no record: %s", strerror(errno));
	peer_read_to_end(y, x, "Y waits for the reset");
	peer_expect_rst(y, "Y");
	peer_expect_received(y, x->sent, "Y");
}

/* In FULL it is X that takes nothing, and Y whose bytes are lost: both must be
 * able to tell. */
static void
play_silence(struct peer *x, struct peer *y)
{
	uint64_t took_ms;

	/* Buffers may still grow: they are kept full. */
	while (me->context == FULL && !y->eof && !y->error) {
		peer_push(y, UINT64_MAX);
		peer_pull(y, x);
		peers_nap();
		cell_in_time("Y waits for the timer");
	}
	peer_read_to_end(y, x, "Y waits for the timer");
	took_ms = tool_now_ms() - x->sent_ms;
	peer_read_to_end(x, y, "X waits for the timer");
	if (me->context == FULL) {
		peer_expect_rst(y, "Y");
		peer_expect_rst(x, "X");
		return;
	}
	peer_expect_timer_fin(y, "Y");
	peer_expect_timer_fin(x, "X");
	peer_expect_received(y, x->sent, "Y");
	peer_expect_received(x, y->sent, "X");
	if (took_ms < SILENT_MS * patience)
		cell_wrong("the timer came after %llu ms",
		    (unsigned long long)took_ms);
}

static void
prepare(struct peer *x, struct peer *y)
{
	switch (me->context) {
	case MID_STREAM:
		/* Y has got some of it, the rest is under way. */
		if (me->action == SILENCE || me->action == ALERT) {
			peer_transfer(x, y, STREAM);
			break;
		}
		peer_transfer(x, y, STREAM / 2);
		peer_push(x, x->sent + STREAM / 8);
		break;
	case FULL:
		peer_fill(me->action == SILENCE ? y : x);
		break;
	case UNREAD:
		peer_send(y, SOME);
		peer_until_acknowledged(y);
		break;
	default:
		break;
	}
}

static void
play(struct peer *client, struct peer *server)
{
	struct peer *x = me->x == CLIENT ? client : server;
	struct peer *y = me->x == CLIENT ? server : client;

	/* Both directions have shown that they carry much. */
	peer_transfer(client, server, WARM);
	peer_transfer(server, client, WARM);
	prepare(x, y);
	switch (me->action) {
	case FIN:
		play_fin(x, y);
		break;
	case SILENCE:
		play_silence(x, y);
		break;
	case CUT:
	case ALERT:
	case GARBAGE:
		play_broken(x, y);
		break;
	default:
		play_rst(x, y);
		break;
	}
}

_Noreturn void
play_cell(struct cell *cell)
{
	struct peer client = {.seed = 1}, server = {.seed = 2};

	cell_begin(cell);
	signal(SIGPIPE, SIG_IGN);
	client.fd = peers_connect(cell->port);
	if (cell->tls & 1)
		peer_secure(&client, false);
	server.fd = accept4(cell->listener, NULL, NULL, SOCK_NONBLOCK);
	if (server.fd < 0)
		cell_wrong("accept: %s", strerror(errno));
	if (cell->tls & 2)
		peer_secure(&server, true);
	play(&client, &server);
	_exit(TOOL_OK);
}
