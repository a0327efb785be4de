/* SPDX-License-Identifier: MIT
 * See ejections_later.h.
 */
#include "servers/ejections_later.h"

#include <inttypes.h>
#include <string.h>

#include "handover/later.h"
#include "model/ejection.h"
#include "proxy/instance.h"
#include "servers/server_followup.h"

static void
write_ejection(const struct server *s, FILE *out)
{
	const struct passive *p = &s->state->passive;
	char address[ADDR_TEXT_SIZE];

	fprintf(out,
	    EJECTIONS_LINE "server=%s/%s\taddress=%s\tejected=%d\tlevel=%u"
	                   "\tpasses=%u\tfrom=%" PRIu64 "\tuntil=%" PRIu64
	                   "\tback=%" PRIu64 "\n",
	    s->backend->spec->name, s->spec->name,
	    addr_text(server_addr(s), address), p->ejected, p->level, p->passes,
	    later_to_wall_ms(p->ejected_ms), later_to_wall_ms(p->until_ms),
	    later_to_wall_ms(p->back_ms));
}

void
ejections_write(struct server_followup *f, FILE *out)
{
	model_for_each_server (s, f->instance->model)
		if (s->state->passive.level > 0)
			write_ejection(s, out);
}

bool
ejections_read(struct server_followup *f, const char *line, struct err *err)
{
	struct server *server = later_server(line, f->instance->model);
	char address[ADDR_TEXT_SIZE], present[ADDR_TEXT_SIZE];
	struct passive former = {.ejected = later_number(line, "ejected") != 0,
	    .level = (unsigned)later_number(line, "level"),
	    .passes = (unsigned)later_number(line, "passes"),
	    .ejected_ms = later_from_wall_ms(later_number(line, "from")),
	    .until_ms = later_from_wall_ms(later_number(line, "until")),
	    .back_ms = later_from_wall_ms(later_number(line, "back"))};

	if (!server)
		return err_set(
		    err, "the configuration has no server of that name");
	if (!later_text(line, "address", address, sizeof(address)) ||
	    strcmp(address, addr_text(server_addr(server), present)) != 0)
		return err_set(err, "the server has another address");
	ejection_restore(server, &former);
	server_followup_review(f);
	return true;
}
