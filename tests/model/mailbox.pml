/* SPDX-License-Identifier: MIT
 * The mailbox and asleep (P2): shard.inc with two threads and two of those who
 * bring something, a turn that asks for another one among it.
 *
 * Shown: whatever is brought is run, also if the leader is about to sleep.
 *
 * own: bring brought.
 */
#define THREADS  2
#define HANDLERS 1
#define MORE_MAX 1
#include "shard.inc"

byte brought;

/* Whoever has something for a handler while the leader may be asleep: the
 * reaper, an admin command (shard_note()). */
proctype bring(byte h)
{
	bool was_asleep, ok;

	shard_note(h);
	brought++
}

active proctype control()
{
	bool was_asleep;

	atomic {
		run thread(0);
		run thread(1);
		run bring(0);
		run bring(0)
	}
	/* Nothing is left lying with a leader that sleeps. */
	brought == 2 && unread == 0 && owned == 0;
	d_step { summons[0] = MEMBER_RETIRE; summons[1] = MEMBER_RETIRE };
	shard_order();
	running == 0;
	assert(mailbox == 0 && batch == 0 && resumed == 0)
}
