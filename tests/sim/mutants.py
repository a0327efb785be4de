# SPDX-License-Identifier: MIT
"""Bugs that the simulator has to find: a name, the file, the text to replace,
and its replacement; more pairs of both where one change alone does no harm.
Each text must be in its file exactly once, and does not quote comments, except
for the tags of a release/acquire pair.

As a program: checks that each text is in its file exactly once, so that
an edit of src/lf that a mutant has to follow is noticed at once."""

import pathlib
import sys

MUTANTS = [
    ("the token goes round where no thread is to lead",
     "src/lf/shard_serve.c",
     "	call_parked(shard, self, ask_to_come);\n", "",
     "POLICY_KERNEL) {\n		sched_yield();\n		return;\n",
     "POLICY_KERNEL) {\n"),
    ("who waits without a leader keeps the leader's wake-up",
     "src/lf/shard_serve.c",
     "	while (has_no_leader(shard) && !atomic",
     "	while (atomic_load_relaxed(&shard->policy) == POLICY_KERNEL && !atomic"),
    ("who leaves does not pass the wake-up on",
     "src/lf/shard_serve.c",
     "	handle_set_wake(shard->set);\n	shard_release(shard);\n",
     "	shard_release(shard);\n"),
    ("a leader sleeps without a look at the mailbox",
     "src/lf/shard_batch.c",
     "		if (!atomic_load_seq(&shard->mailbox) &&   /* [P2] */\n"
     "		    !atomic_load_seq(&shard->orders))",
     "		if (!atomic_load_seq(&shard->orders))"),
    ("a leader sleeps without a look at the orders",
     "src/lf/shard_batch.c",
     " &&   /* [P2] */\n		    !atomic_load_seq(&shard->orders))", ")"),
    ("a wake-up does not take the sleepers into account", "src/lf/shard.c",
     "atomic_load_seq(&shard->sleepers) == 0 && /* [P2] */\n", ""),
    ("leading begins without a look at the orders",
     "src/lf/shard_serve.c",
     "		obey_orders(shard, self);\n", ""),
    ("a leader goes on although a better class is parked",
     "src/lf/shard_serve.c",
     " || is_outranked(shard, self)", ""),
    ("a leader looks for a better class only once",
     "src/lf/shard_serve.c",
     "	    self->now_ns < shard->batch.ranked_ns + POLICY_RANK_NS)",
     "	    shard->batch.ranked_ns > 0)"),
    ("a member that parks does not say that it is wanted",
     "src/lf/promotion_futex.c", "		p->kick(p->kick_arg);", "		(void)p;"),
    ("a member is woken before it has its command", "src/lf/promotion_futex.c",
     "	atomic_store_release(&m->command, c); /* [P11] */\n"
     "	futex_wake(&m->command);",
     "	futex_wake(&m->command);\n	atomic_store_release(&m->command, c);"),
    ("the token is laid down while a thread parks",
     "src/lf/promotion_futex.c",
     "		if ((word & TOP_MASK) == 0 &&\n		    atomic_cas", "		if (atomic_cas"),
    ("a member parks although no thread leads", "src/lf/promotion_futex.c",
     "		if (state == HELD) {", "		if (state == HELD || state == FREE) {"),
    ("bits that come at the end of a turn are not seen",
     "src/lf/event_handler.c",
     "		if (claim_drop(&handler->claim))\n			return TURN_DONE;",
     "		if (!claim_drop(&handler->claim))\n"
     "			(void)atomic_and_acq_rel(&handler->claim.word, ~1ull);\n"
     "		return TURN_DONE;"),
    ("a handler is shifted to a closing shard", "src/lf/pool.c",
     "to < open && from->id < open ?", "from->id < open ?"),
    ("a handler is shifted from a closing shard, and returns", "src/lf/pool.c",
     "to < open && from->id < open ?", "to < open ?"),
    ("a shard closes although handlers are registered", "src/lf/pool_change.c",
     "atomic_load_acquire(&shard->handlers) == 0 &&\n	       ", ""),
    ("a handle set goes while a thread is inside", "src/lf/shard_set.c",
     "	if (!atomic_cas_acq_rel(\n"
     "	        &shard->inside, &no_thread, SHARD_NO_SET)) /* [P28] */\n"
     "		return false;\n",
     "	(void)no_thread;\n"
     "	(void)atomic_or_acq_rel(&shard->inside, SHARD_NO_SET);\n"),
    ("who comes to a shard does not see that its handle set has gone",
     "src/lf/shard_set.c",
     "	shard_release(shard);\n	return false;\n", "	return true;\n"),
    ("a thread leads without being counted", "src/lf/shard_serve.c",
     "	if (!shard_hold(shard)) {\n		dissolve(shard, self);\n"
     "		return;\n	}\n	lead_inside(shard, self);\n"
     "	shard_release(shard);\n",
     "	lead_inside(shard, self);\n"),
    ("a thread waits beside others without being counted",
     "src/lf/shard_serve.c",
     "	if (!shard_hold(shard)) {\n		sched_yield();\n"
     "		return;\n	}\n", "",
     "	handle_set_wake(shard->set);\n	shard_release(shard);\n",
     "	handle_set_wake(shard->set);\n"),
    ("a shard closes before its grace period has passed",
     "src/lf/pool_change.c",
     "	if (pool->unsettled > 0)\n		return true;\n", ""),
    ("a leader does not look after the other shards", "src/lf/pool_guard.c",
     "	if (unattended > 0 && lend_parked(pool, unattended) > 0)\n"
     "		lend_leader(pool);\n",
     "	if (unattended > 0)\n		(void)lend_parked(pool, unattended);\n"),
    ("a parked thread does not go to another shard", "src/lf/shard_serve.c",
     "	case MEMBER_VISIT:\n		visit(self);\n", "	case MEMBER_VISIT:\n"),
    ("a shard whose leader is in a long turn gets no other one",
     "src/lf/shard_serve.c",
     "leaderless(shard) ||\n	    !promotion_try_lead(shard->promotion, true))",
     "leaderless(shard) ||\n	    !promotion_try_lead(shard->promotion, false))"),
    ("a leader keeps its token in a turn", "src/lf/shard_serve.c",
     "	bool shared = !fault_is_on(FAULT_NO_TAKEOVER);\n",
     "	bool shared = false;\n"),
    ("a long turn does not make room for the next", "src/lf/shard_long.c",
     "		handler =\n"
     "		    admission_end(pool_admission(self->pool), self->now_ns);\n",
     "		handler = NULL;\n"),
    ("who is admitted last by a thread that goes is forgotten",
     "src/lf/shard_long.c",
     "		if (handler && !is_spare(self)) {\n"
     "			shard_submit(handler);\n			break;\n		}\n",
     "		if (handler && !is_spare(self))\n			break;\n"),
    ("more threads do not let those run that wait", "src/lf/pool_start.c",
     "	while ((h = admission_take(&pool->admission, clock_now_ns())))\n"
     "		shard_submit(h);\n", "	(void)h;\n"),
    ("fewer threads run as many long turns as before",
     "src/lf/pool_change.c",
     "	pool_limit_long_turns(pool);\n	pool_renice(", "	pool_renice("),
    ("a long turn runs together with the one that declared it",
     "src/lf/event_handler.c",
     "		if (handler->next_turn == NEXT_LONG)\n"
     "			return TURN_MORE;\n", ""),
    ("a leader runs a long turn itself", "src/lf/shard_serve.c",
     "	if (h->next_turn == NEXT_ADMITTED)\n		return true;\n", ""),
    ("a leader runs another shard's long turn itself", "src/lf/shard_serve.c",
     "		if (h->next_turn == NEXT_ADMITTED) {\n"
     "			promote_and_process(shard, h, self);\n"
     "			return false;\n		}\n", ""),
    ("any number of long turns is admitted", "src/lf/admission.c",
     "	if (a->running >= a->limit)\n		return false;\n", ""),
    ("a thread stands by and sleeps without a look at the token",
     "src/lf/shard_batch.c",
     "	return atomic_load_relaxed(&shard->policy) == POLICY_KERNEL ||\n"
     "	       promotion_token(shard->promotion) == TOKEN_HELD;\n",
     "	return true;\n"),
    ("a thread that stands by keeps the wake-up for an order",
     "src/lf/shard_beside.c",
     "	       !atomic_load_seq(&shard->orders) && /* [P10] */\n", ""),
    ("a thread that stands by keeps the wake-up when it leaves",
     "src/lf/shard_beside.c",
     "	if (!may)\n		handle_set_wake(shard->set);\n", ""),
    ("a thread that stands by passes the wake-up on after its turns",
     "src/lf/shard_beside.c",
     "	if ((b->end > 0 || b->resumed) &&\n", "	if (false &&\n"),
    ("a wake-up clears asleep", "src/lf/shard.c",
     "	    !atomic_load_seq(&shard->asleep))         /* [P2] */\n",
     "	    !atomic_swap_seq(&shard->asleep, 0u))\n"),
    ("the guard does not wake a thread that stands by", "src/lf/shard.c",
     "	if (atomic_load_relaxed(&shard->sleepers) > 0) {\n"
     "		shard_wake(shard);\n",
     "	if (atomic_load_relaxed(&shard->sleepers) > 0) {\n"),
    ("a leader that frees the token does not wake those who stand by",
     "src/lf/shard_serve.c",
     "	shard_call_guard_unless(shard, alarm);\n"
     "	shard_wake(shard); /* [P2] */\n",
     "	shard_call_guard_unless(shard, alarm);\n"),
    ("a thread that does not help goes on standing by",
     "src/lf/shard_beside.c",
     " && self->batch.needless < POLICY_NEEDLESS);", ");"),
    ("a thread that does not help parks with events left",
     "src/lf/shard_beside.c",
     "	while ((h = batch_next(b, self)) || b->resumed) {\n"
     "		if (!h) { ",
     "	while (b->needless < POLICY_NEEDLESS &&\n"
     "	       ((h = batch_next(b, self)) || b->resumed)) {\n"
     "		if (!h) { "),
    ("a thread that stands by fetches many events after a long turn",
     "src/lf/shard_batch.c",
     "	    (long_ns > 0 && self->now_ns < long_ns + POLICY_LONG_SEEN_NS))\n",
     "	    false)\n"),
    ("a call for the guard does not make the keeper look",
     "src/proxy/keeper.c",
     "	else if (called && k->guard_ns == NEVER)\n"
     "		k->guard_ns = now_ns + KEEPER_GUARD_NS;\n", "	(void)called;\n"),
    ("the keeper does not take over when an alarm goes off",
     "src/proxy/keeper.c",
     "	if (k->alarm)\n		k->guard_ns = now_ns;\n	else if (called",
     "	if (called"),
    ("an alarm does not wake the keeper", "src/proxy/keeper.c",
     "		k->alarm = epoll_wait(k->alarms, gone_off, 16, 0) > 0;\n",
     "		(void)epoll_wait(k->alarms, gone_off, 16, 0);\n"),
    ("a call does not wake the keeper", "src/proxy/keeper.c",
     "	if (before == 0)\n", "	if (false)\n"),
    ("a deadline that is soon does not call the reaper",
     "src/proxy/reaper.c",
     "	    deadline_ms >= atomic_load_seq(&proxy->next_reap_ms)) /* [P17] */\n",
     "	    deadline_ms > 0) /* [P17] */\n"),
    ("an alarm is not set", "src/lf/shard_alarm.c",
     "	return arm(shard, length_ns) ? sleep : 0;\n",
     "	return sleep;\n"),
    ("a thread stays in SCHED_IDLE for all of a long turn",
     "src/lf/pool_guard.c", "	pool_nice_guard(pool, now_ns);\n", "	(void)now_ns;\n"),
    ("a thread does not return from its nice value", "src/lf/shard_long.c",
     "	if (nicer)\n		pool_nice_end(self);\n", ""),
    ("a thread that cannot return becomes nicer", "src/lf/pool_nice.c",
     "	bool may = nice == 0 || may_return();\n",
     "	bool may = (may_return(), true);\n"),
    ("threads apart are as nice as others", "src/lf/pool_nice.c",
     "	return grade == GRADE_APART ? (int)nice_for_life(pool)\n"
     "	                            : pool->classes[grade].nice;\n",
     "	return grade == GRADE_APART ? 0 : pool->classes[grade].nice;\n"),
    ("a handler for a thread apart wakes none", "src/lf/admission.c",
     "	if (hand_over)\n		pthread_cond_signal(&admission->ready);\n", ""),
    ("a thread apart that is to retire is not woken",
     "src/lf/pool_threads.c",
     "	if (thread->member.grade == GRADE_APART)\n"
     "		admission_wake(&pool->admission);\n", ""),
    ("a thread apart keeps a handler when it goes", "src/lf/shard_long.c",
     "		if (h && member_wanted(&self->member)) {\n"
     "			shard_submit(h);\n			break;\n		}\n",
     "		if (h && member_wanted(&self->member))\n			break;\n"),
    ("a thread apart forgets a handler that goes on", "src/lf/shard_long.c",
     "		turns_set_role(self, ROLE_PROCESSING);\n"
     "		if (turns_run(h, self) == TURN_MORE)\n			shard_submit(h);\n",
     "		turns_set_role(self, ROLE_PROCESSING);\n"
     "		(void)turns_run(h, self);\n"),
    ("a thread apart that ends a turn does not take the next handler",
     "src/lf/shard_long.c",
     "		h = admission_end(admission, self->now_ns);\n",
     "		(void)admission_end(admission, self->now_ns);\n		h = NULL;\n"),
    ("long turns go to threads apart that have gone",
     "src/lf/pool_change.c", "	pool_hand_over(pool);\n	pool_limit", "	pool_limit"),
    ("a change that is refused takes the spare threads away",
     "src/lf/pool_change.c", "		pool->options.spares = pool->spares;\n		return false;\n",
     "		pool->spares = pool->options.spares;\n		return false;\n"),
    ("a thread that takes what a sleeping leader could take does not park",
     "src/lf/shard_beside.c",
     "	return atomic_load_relaxed(&shard->asleep) ||\n	       (!shard",
     "	return (!shard"),
    ("a thread that has stood by counts as standing by",
     "src/lf/shard_beside.c",
     "	atomic_sub_relaxed(&shard->standbys, 1u);\n"
     "	shard_release(shard);\n",
     "	shard_release(shard);\n"),
    ("a thread that has slept beside others counts as asleep",
     "src/lf/shard_batch.c",
     "	if (counted)\n		atomic_sub_relaxed(&shard->sleepers, 1u);\n",
     ""),
    ("a thread that is wanted elsewhere goes on standing by",
     "src/lf/shard_beside.c",
     "	       !member_wanted(&self->member) &&\n",
     ""),
    ("a thread sleeps beside others before it is counted",
     "src/lf/shard_batch.c",
     "		(void)atomic_add_seq(&shard->sleepers, 1u); /* [P2] */\n"
     "		if (may_sleep_beside(shard))\n"
     "			timeout_ms = BESIDE_LOOK_MS;\n",
     "		if (may_sleep_beside(shard))\n"
     "			timeout_ms = BESIDE_LOOK_MS;\n"
     "		(void)atomic_add_seq(&shard->sleepers, 1u); /* [P2] */\n"),
    ("a thread that stands by forgets its events before a long turn",
     "src/lf/shard_beside.c",
     "		if (h)\n			shard_submit(h);\n		else\n			b->looked = true;\n",
     "		if (!h)\n			b->looked = true;\n"),
    ("the keeper does not resume acceptors that have paused",
     "src/proxy/keeper.c",
     "		k->resume_ns = NEVER;\n		acceptors_resume(k->proxy);\n",
     "		k->resume_ns = NEVER;\n"),
    ("a call for bandwidth does not make the pacer look",
     "src/proxy/keeper.c",
     "calls & KEEPER_BANDWIDTH || now_ns", "now_ns"),
    ("a call for a deadline does not make the reaper look",
     "src/proxy/keeper.c",
     "	if (calls & KEEPER_DEADLINE)\n		k->reap_ns = k->reap_from_ns;\n",
     ""),
    ("the keeper clears calls after its round",
     "src/proxy/keeper.c",
     "	while (!((calls = atomic_swap_seq(&k->calls, 0u)) & /* [P43] */\n"
     "	         KEEPER_END)) {\n		grace_enter(k->grace, &k->reader);\n"
     "		run_round(k, calls);\n		grace_leave(&k->reader);\n",
     "	while (!((calls = k->calls) & /* [P43] */\n"
     "	         KEEPER_END)) {\n		grace_enter(k->grace, &k->reader);\n"
     "		run_round(k, calls);\n		grace_leave(&k->reader);\n"
     "		(void)atomic_swap_seq(&k->calls, 0u);\n"),
    ("a thread apart that is to retire goes on waiting",
     "src/lf/admission.c",
     "	while (atomic_load_seq(summons) == 0 &&\n	       !(h",
     "	while (\n	       !(h"),
    ("the queue for long turns keeps its end when it is empty",
     "src/lf/admission.c",
     "	if (!a->first)\n		a->end = &a->first;\n",
     ""),
    ("a handler that waits for a long turn keeps its link",
     "src/lf/admission.c",
     "		handler->next = NULL;\n",
     ""),
    ("a handler waits for a long turn although one has ended",
     "src/lf/admission.c",
     "	atomic_store_relaxed(&admission->running, admission->running - 1);\n"
     "	h = take_first_locked(admission, now_ns);\n",
     "	atomic_store_relaxed(&admission->running, admission->running - 1);\n"
     "	h = NULL;\n	(void)now_ns;\n"),
    ("a handler that goes on after a long turn is forgotten",
     "src/lf/shard_long.c",
     "		if (turns_run(handler, self) == TURN_MORE)\n"
     "			shard_submit(handler);\n",
     "		(void)turns_run(handler, self);\n"),
    ("a handler that goes on after a promotion is forgotten",
     "src/lf/shard_serve.c",
     "			continue;\n		shard_submit(h);\n		break;\n",
     "			continue;\n		break;\n"),
    ("a thread keeps the token of a shard after a look",
     "src/lf/shard_serve.c",
     "			atomic_store_relaxed(&shard->busy_since_ns, 0u);\n"
     "			give_up(shard, self);\n",
     "			atomic_store_relaxed(&shard->busy_since_ns, 0u);\n"),
    ("threads that a closed shard needed stay",
     "src/lf/pool_change.c",
     "		retire_surplus(pool);\n		pool_assign_homes(pool);\n	}\n"
     "	return pool->shards_n",
     "		pool_assign_homes(pool);\n	}\n	return pool->shards_n"),
    ("an order does not wake a leader",
     "src/lf/shard.c",
     "	(void)atomic_swap_seq(&shard->orders, 1u); /* [P2] [P10] */\n"
     "	shard_wake(shard);\n",
     "	(void)atomic_swap_seq(&shard->orders, 1u); /* [P2] [P10] */\n"),
    ("the guard sleeps without telling leaders",
     "src/lf/pool_guard.c",
     "		(void)atomic_swap_seq(\n"
     "		    &s->unguarded, pool->guard_sleeps); /* [P18] */\n",
     ""),
]


def apply(mutant):
    """Returns the changed text of the mutant's file.  Raises LookupError with
    a sentence if a text is not in it exactly once."""
    _, file, *changes = mutant
    text = pathlib.Path(file).read_text()
    for old, new in zip(changes[::2], changes[1::2]):
        if text.count(old) != 1:
            raise LookupError(f"tests/sim/mutants.py: this text is in {file} "
                              f"{text.count(old)} times instead of once: {old}")
        text = text.replace(old, new)
    return text


def main():
    failed = 0
    for mutant in MUTANTS:
        try:
            apply(mutant)
        except LookupError as error:
            print(error, file=sys.stderr)
            failed += 1
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
