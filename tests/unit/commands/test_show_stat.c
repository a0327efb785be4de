/* SPDX-License-Identifier: MIT
 * `show stat`, rendered from a model made by hand.
 */
#include "commands/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "stats/stat_rows.h"

#define ROW_MAX 2048

/* Taken from HAProxy 3.0.11 up to the column `-`, then ours. */
static const char header[] =
    "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,"
    "econ,eresp,wretr,wredis,status,weight,act,bck,chkfail,chkdown,lastchg,"
    "downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,"
    "rate_max,check_status,check_code,check_duration,hrsp_1xx,hrsp_2xx,"
    "hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,req_rate_max,"
    "req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,"
    "last_chk,last_agt,qtime,ctime,rtime,ttime,agent_status,agent_code,"
    "agent_duration,check_desc,agent_desc,check_rise,check_fall,check_health,"
    "agent_rise,agent_fall,agent_health,addr,cookie,mode,algo,conn_rate,"
    "conn_rate_max,conn_tot,intercepted,dcon,dses,wrew,connect,reuse,"
    "cache_lookups,cache_hits,srv_icur,src_ilim,qtime_max,ctime_max,rtime_max,"
    "ttime_max,eint,idle_conn_cur,safe_conn_cur,used_conn_cur,need_conn_est,"
    "uweight,agg_server_status,agg_server_check_status,agg_check_status,srid,"
    "sess_other,h1sess,h2sess,h3sess,req_other,h1req,h2req,h3req,proto,-,"
    "lf_pool,lf_usable,lf_admin,lf_connect_us,lf_panic,lf_ejections,"
    "lf_queue_refused,lf_retries_refused,lf_retries,lf_retries_max,"
    "lf_retries_limit,lf_hellos,lf_not_tls,lf_hello_timeouts,"
    "lf_proxy_headers,lf_proxy_errors,ssl_sess,ssl_reused_sess,"
    "ssl_failed_handshake,lf_handshakes_now,lf_handshakes_max,"
    "lf_handshakes_limit,lf_limited,lf_delayed,lf_evicted,lf_bw_in,"
    "lf_bw_out,lf_bw_sess_in,lf_bw_sess_out,lf_bw_waiting,lf_bw_waits,\n";

static const struct stat_filter everything = {
    .iid = -1, .types = -1, .sid = -1};

static const char *
render(struct fixture *f, const struct stat_filter *filter)
{
	static const struct stat_facts facts = {.sessions_max = 4000};

	struct stat_cursor cursor = {.any = false};

	assert_false(stat_rows_render(
	    output(f), SIZE_MAX / 2, f->model, filter, &facts, &cursor));
	return written(f);
}

/* The row's value in the named column, found through the header. */
static const char *
value(struct fixture *f, const char *row_start, const char *column)
{
	static char values[8][ROW_MAX];
	static unsigned turn;
	char *out = values[turn++ % 8];
	const char *h = header + 2, *row;
	char line[64];

	snprintf(line, sizeof(line), "\n%s,", row_start);
	row = strstr(render(f, &everything), line);
	assert_non_null(row);
	row++;
	for (; strncmp(h, column, strlen(column)) != 0 ||
	       h[strlen(column)] != ',';
	     h = strchr(h, ',') + 1)
		row = strchr(row, ',') + 1;
	snprintf(out, ROW_MAX, "%.*s", (int)strcspn(row, ",\n"), row);
	return out;
}

static unsigned
lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void
header_is_haproxys(void **state)
{
	struct fixture *f = *state;
	const char *text = render(f, &everything);

	assert_int_equal(strncmp(text, header, strlen(header)), 0);
}

static void
every_row_has_as_many_commas_as_the_header(void **state)
{
	struct fixture *f = *state;
	const char *text = render(f, &everything);
	unsigned rows = 0, wanted = 0;

	for (const char *p = header; *p; p++)
		wanted += *p == ',';
	while (*text) {
		unsigned commas = 0;

		for (; *text != '\n'; text++)
			commas += *text == ',';
		text++;
		assert_int_equal(commas, wanted);
		rows++;
	}
	assert_int_equal(rows, 1 + 1 + 4 + 2);
}

static void
rows_come_as_frontends_then_servers_and_their_backend(void **state)
{
	struct fixture *f = *state;
	static const char *const rows[] = {"\nweb,FRONTEND,", "\napp,s1,",
	    "\napp,s2,", "\napp,u,", "\napp,BACKEND,", "\nraw,r1,",
	    "\nraw,BACKEND,"};
	const char *at = render(f, &everything);

	for (size_t i = 0; i < 7; i++) {
		at = strstr(at, rows[i]);
		assert_non_null(at);
	}
}

static void
status_tells_how_many_checks_are_missing(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(value(f, "web,FRONTEND", "status"), "OPEN");
	assert_string_equal(value(f, "app,s1", "status"), "UP");
	assert_string_equal(value(f, "app,s1", "check_health"), "4");
	assert_string_equal(value(f, "raw,r1", "status"), "no check");
	f->s1->state->streak = 1;
	assert_string_equal(value(f, "app,s1", "status"), "UP 2/3");
	assert_string_equal(value(f, "app,s1", "check_health"), "3");
	f->s1->state->up = false;
	assert_string_equal(value(f, "app,s1", "status"), "DOWN 1/2");
	assert_string_equal(value(f, "app,s1", "check_health"), "1");
	f->s1->state->streak = 0;
	assert_string_equal(value(f, "app,s1", "status"), "DOWN");
	assert_string_equal(value(f, "app,BACKEND", "status"), "UP");
	f->app->state->usable = f->app->state->active = 0;
	assert_string_equal(value(f, "app,BACKEND", "status"), "DOWN");
}

static void
failed_check_shows_status_code_text_and_meaning(void **state)
{
	struct fixture *f = *state;
	const struct check_result no = {
	    .status = CHECK_STATUS_L7STS,
	    .code = 503,
	    .duration_ms = 7,
	    .text = "Service Unavailable",
	};

	assert_string_equal(value(f, "app,s2", "check_status"), "INI");
	assert_string_equal(value(f, "app,s2", "check_duration"), "");
	server_report_check(f->s2, &no);
	model_update(f->model);
	assert_string_equal(value(f, "app,s2", "check_status"), "L7STS");
	assert_string_equal(value(f, "app,s2", "check_code"), "503");
	assert_string_equal(value(f, "app,s2", "check_duration"), "7");
	assert_string_equal(value(f, "app,s2", "chkfail"), "1");
	assert_string_equal(
	    value(f, "app,s2", "last_chk"), "Service Unavailable");
	assert_string_equal(
	    value(f, "app,s2", "check_desc"), "Layer7 wrong status");
	assert_string_equal(value(f, "raw,r1", "check_status"), "");
	assert_string_equal(value(f, "raw,r1", "chkfail"), "");
}

static void
text_with_a_comma_or_a_quote_is_quoted(void **state)
{
	struct fixture *f = *state;
	const struct check_result odd = {
	    .status = CHECK_STATUS_L7STS,
	    .code = 500,
	    .text = "no \"tea\", sorry",
	};

	server_report_check(f->s1, &odd);
	model_update(f->model);
	assert_non_null(
	    strstr(render(f, &everything), ",\"no \"\"tea\"\", sorry\","));
}

static void
counters_and_gauges_stand_in_their_columns(void **state)
{
	struct fixture *f = *state;

	counters_add(f->web->counters, 0, COUNTER_SESSIONS, 11);
	counters_add(f->web->counters, 0, COUNTER_BYTES_IN, 12);
	counters_add(f->web->counters, 0, COUNTER_BYTES_OUT, 13);
	counters_add(f->s1->counters, 0, COUNTER_SELECTED, 14);
	counters_add(f->s1->counters, 0, COUNTER_CONNECT_ERRORS, 15);
	counters_add(f->app->counters, 0, COUNTER_REDISPATCHES, 16);
	gauge_up(f->s1->sessions);
	gauge_up(f->s1->sessions);
	gauge_down(f->s1->sessions);
	f->web->state->rate.per_second = 17;
	f->web->state->rate.peak = 18;
	assert_string_equal(value(f, "web,FRONTEND", "stot"), "11");
	assert_string_equal(value(f, "web,FRONTEND", "conn_tot"), "11");
	assert_string_equal(value(f, "web,FRONTEND", "bin"), "12");
	assert_string_equal(value(f, "web,FRONTEND", "bout"), "13");
	assert_string_equal(value(f, "app,s1", "lbtot"), "14");
	assert_string_equal(value(f, "app,s1", "econ"), "15");
	assert_string_equal(value(f, "app,BACKEND", "wredis"), "16");
	assert_string_equal(value(f, "app,s1", "scur"), "1");
	assert_string_equal(value(f, "app,s1", "smax"), "2");
	assert_string_equal(value(f, "web,FRONTEND", "rate"), "17");
	assert_string_equal(value(f, "web,FRONTEND", "rate_max"), "18");
	assert_string_equal(value(f, "web,FRONTEND", "slim"), "4000");
}

static void
places_weights_and_kinds_are_told(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(value(f, "app,s1", "addr"), "127.0.0.1:81");
	assert_string_equal(value(f, "app,s2", "addr"), "[::1]:82");
	assert_string_equal(value(f, "app,u", "addr"), "unix");
	assert_string_equal(value(f, "app,s2", "weight"), "50");
	assert_string_equal(value(f, "app,BACKEND", "weight"), "250");
	assert_string_equal(value(f, "app,BACKEND", "act"), "3");
	assert_string_equal(value(f, "app,BACKEND", "algo"), "roundrobin");
	assert_string_equal(value(f, "web,FRONTEND", "type"), "0");
	assert_string_equal(value(f, "app,BACKEND", "type"), "1");
	assert_string_equal(value(f, "app,u", "type"), "2");
	assert_string_equal(value(f, "app,u", "sid"), "3");
	assert_string_equal(value(f, "app,u", "mode"), "tcp");
	assert_string_equal(value(f, "app,u", "-"), "-");
}

static void
backups_and_a_slow_start_have_their_columns(void **state)
{
	struct fixture *f = *state;
	const struct check_result bad = {.status = CHECK_STATUS_L4CON};
	const struct check_result good = {
	    .passed = true, .status = CHECK_STATUS_L7OK};
	struct backend_spec *app = &f->model->spec->backends[0];

	app->servers[2]->backup = true;
	app->slow_start_ms = 3600 * 1000;
	f->s1->check.fall = f->s1->check.rise = 1;
	f->s2->check.fall = f->u->check.fall = 1;
	server_report_check(f->s1, &bad);
	model_update(f->model);
	assert_string_equal(value(f, "app,s1", "act"), "1");
	assert_string_equal(value(f, "app,s1", "bck"), "0");
	assert_string_equal(value(f, "app,u", "act"), "0");
	assert_string_equal(value(f, "app,u", "bck"), "1");
	assert_string_equal(value(f, "app,BACKEND", "act"), "1");
	assert_string_equal(value(f, "app,BACKEND", "bck"), "1");
	assert_string_equal(value(f, "app,BACKEND", "weight"), "50");
	assert_string_equal(value(f, "app,BACKEND", "throttle"), "");
	assert_string_equal(value(f, "app,s1", "throttle"), "");
	server_report_check(f->s1, &good);
	model_update(f->model);
	assert_string_equal(value(f, "app,s1", "throttle"), "2");
	assert_string_equal(value(f, "app,s1", "weight"), "2");
	assert_string_equal(value(f, "app,s1", "uweight"), "100");
	assert_string_equal(value(f, "app,BACKEND", "weight"), "52");
	assert_string_equal(value(f, "app,BACKEND", "uweight"), "150");
	assert_string_equal(value(f, "app,s2", "throttle"), "");
	/* Only the backup is left, then nobody. */
	server_report_check(f->s1, &bad);
	server_report_check(f->s2, &bad);
	model_update(f->model);
	assert_string_equal(value(f, "app,BACKEND", "act"), "0");
	assert_string_equal(value(f, "app,BACKEND", "status"), "UP");
	assert_string_equal(value(f, "app,BACKEND", "weight"), "100");
	assert_string_equal(value(f, "app,BACKEND", "lf_panic"), "0");
	app->panic_percent = 1;
	server_report_check(f->u, &bad);
	model_update(f->model);
	assert_string_equal(value(f, "app,BACKEND", "status"), "DOWN");
	assert_string_equal(value(f, "app,BACKEND", "lf_panic"), "1");
}

static void
filter_by_proxy_type_and_server(void **state)
{
	struct fixture *f = *state;
	struct stat_filter some = everything;

	some.types = STAT_SERVERS;
	assert_int_equal(lines(render(f, &some)), 1 + 4);
	some.types = STAT_FRONTENDS + STAT_BACKENDS;
	assert_int_equal(lines(render(f, &some)), 1 + 3);
	some.types = -1;
	some.iid = (int)f->app->id;
	assert_int_equal(lines(render(f, &some)), 1 + 4);
	some.types = STAT_SERVERS;
	some.sid = 2;
	assert_int_equal(lines(render(f, &some)), 1 + 1);
	assert_non_null(strstr(f->text, "\napp,s2,"));
	some = everything;
	strcpy(some.proxy, "raw");
	assert_int_equal(lines(render(f, &some)), 1 + 2);
}

static void
filter_is_parsed_or_refused(void **state)
{
	struct fixture *f = *state;
	struct stat_filter got;
	struct err err;

	assert_true(stat_filter_parse(
	    f->model, (const char *const[]){NULL}, &got, &err));
	assert_int_equal(got.types, -1);
	assert_true(stat_filter_parse(f->model,
	    (const char *const[]){"app", "4", "1", NULL}, &got, &err));
	assert_string_equal(got.proxy, "app");
	assert_int_equal(got.types, 4);
	assert_int_equal(got.sid, 1);
	assert_false(stat_filter_parse(f->model,
	    (const char *const[]){"nope", "4", "1", NULL}, &got, &err));
	assert_string_equal(err.text, "No such proxy.");
	assert_true(stat_filter_parse(f->model,
	    (const char *const[]){"app", "x", "1", "json", "up", NULL}, &got,
	    &err));
	assert_int_equal(got.types, 0);
	assert_int_equal(got.form, FIELD_JSON);
	assert_true(got.up);
	assert_true(stat_filter_parse(f->model,
	    (const char *const[]){"typed", "desc", NULL}, &got, &err));
	assert_int_equal(got.form, FIELD_TYPED_DESC);
	assert_int_equal(got.proxy[0], '\0');
}

/* Cut anywhere, the parts make up the whole. */
static void
answer_in_parts_is_the_same(void **state)
{
	static const struct stat_facts facts = {.sessions_max = 4000};
	struct fixture *f = *state;

	for (enum field_form form = 0; form <= FIELD_JSON; form++) {
		struct stat_filter filter = everything;
		struct stat_cursor cursor = {.any = false};
		unsigned parts = 1;
		char *whole;

		filter.form = form;
		whole = strdup(render(f, &filter));
		assert_non_null(whole);
		output(f);
		while (stat_rows_render(
		    f->out, 1, f->model, &filter, &facts, &cursor))
			parts++;
		assert_string_equal(written(f), whole);
		assert_true(parts > 7);
		free(whole);
	}
}

/* A reload between two parts may leave less than there was. */
static void
cursor_beyond_the_end_ends(void **state)
{
	static const struct stat_facts facts = {.sessions_max = 4000};
	struct fixture *f = *state;
	struct stat_cursor cursor = {.begun = true,
	    .any = true,
	    .frontend = 9,
	    .backend = 1,
	    .server = {.at = 99}};

	assert_false(stat_rows_render(
	    output(f), SIZE_MAX / 2, f->model, &everything, &facts, &cursor));
	assert_int_equal(lines(written(f)), 1);
}

static void
typed_lines_have_place_tags_and_value(void **state)
{
	struct fixture *f = *state;
	struct stat_filter filter = everything;
	const char *text;

	filter.form = FIELD_TYPED;
	text = render(f, &filter);
	assert_memory_equal(text, "F.2.0.0.pxname.1:KNS:str:web\n", 29);
	assert_non_null(strstr(text, "\nS.3.2.18.weight.1:MaP:u32:50\n"));
	assert_non_null(strstr(text, "\nB.3.0.19.act.1:MGP:u32:3\n"));
	assert_non_null(strstr(text, "\nS.3.1.19.act.1:SGP:u32:1\n"));
	assert_null(strstr(text, ".-."));
	filter.form = FIELD_TYPED_DESC;
	assert_non_null(strstr(render(f, &filter),
	    "\nB.3.0.4.scur.1:MGP:u32:0:\"current sessions\"\n"));
}

static void
maintenance_and_down_are_left_out_on_request(void **state)
{
	struct fixture *f = *state;
	struct stat_filter filter = everything;

	f->s1->state->set.admin =
	    (struct override){true, SERVER_MAINT, SERVER_READY};
	f->s2->state->up = false;
	filter.no_maint = true;
	assert_int_equal(lines(render(f, &filter)), 1 + 1 + 3 + 2);
	assert_null(strstr(f->text, "\napp,s1,"));
	assert_non_null(strstr(f->text, ",UP (3/3),"));
	filter.up = true;
	assert_int_equal(lines(render(f, &filter)), 1 + 1 + 2 + 2);
	assert_null(strstr(f->text, "\napp,s2,"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(header_is_haproxys),
	    TEST(every_row_has_as_many_commas_as_the_header),
	    TEST(rows_come_as_frontends_then_servers_and_their_backend),
	    TEST(status_tells_how_many_checks_are_missing),
	    TEST(failed_check_shows_status_code_text_and_meaning),
	    TEST(text_with_a_comma_or_a_quote_is_quoted),
	    TEST(counters_and_gauges_stand_in_their_columns),
	    TEST(places_weights_and_kinds_are_told),
	    TEST(backups_and_a_slow_start_have_their_columns),
	    TEST(filter_by_proxy_type_and_server),
	    TEST(filter_is_parsed_or_refused),
	    TEST(answer_in_parts_is_the_same),
	    TEST(cursor_beyond_the_end_ends),
	    TEST(typed_lines_have_place_tags_and_value),
	    TEST(maintenance_and_down_are_left_out_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
