/* SPDX-License-Identifier: MIT
 * `show schema json`: what `show info json` and `show stat json` look like, as
 * a JSON schema, draft 4.
 */
#include "commands/commands.h"

#define REF(name)   "{\"$ref\":\"#/definitions/" name "\"}"
#define INTEGER     "{\"type\":\"integer\",\"minimum\":0}"
#define VALUE(name) REF("typedValue/definitions/" name)

/* The three fields that both kinds of items have. */
#define COMMON                                                                 \
	"\"field\":" REF("field") ",\"processNum\":" REF(                      \
	    "processNum") ",\"tags\":" REF("tags")

static const char info[] =
    "{\"title\":\"Info\",\"type\":\"array\",\"items\":{"
    "\"title\":\"InfoItem\",\"type\":\"object\",\"properties\":{" COMMON
    ",\"value\":" REF("typedValue") "},"
                                    "\"required\":[\"field\",\"processNum\","
                                    "\"tags\",\"value\"]}}";

static const char stats[] =
    "{\"title\":\"Stat\",\"type\":\"array\",\"items\":{"
    "\"title\":\"InfoItem\",\"type\":\"object\",\"properties\":{"
    "\"objType\":{\"enum\":[\"Frontend\",\"Backend\",\"Listener\",\"Server\","
    "\"Unknown\"]},\"proxyId\":" INTEGER ",\"id\":" INTEGER "," COMMON
    ",\"typedValue\":" REF(
        "typedValue") "},"
                      "\"required\":[\"objType\",\"proxyId\",\"id\",\"field\","
                      "\"processNum\","
                      "\"tags\",\"value\"]}}";

static const char error[] =
    "{\"title\":\"Error\",\"type\":\"object\",\"properties\":{\"errorStr\":"
    "{\"type\":\"string\"}},\"required\":[\"errorStr\"]}";

static const char field[] =
    "\"field\":{\"type\":\"object\",\"pos\":" INTEGER ",\"name\":"
    "{\"type\":\"string\"},\"required\":[\"pos\",\"name\"]},"
    "\"processNum\":{\"type\":\"integer\",\"minimum\":1}";

static const char tags[] =
    "\"tags\":{\"type\":\"object\","
    "\"origin\":{\"type\":\"string\",\"enum\":[\"Metric\",\"Status\",\"Key\","
    "\"Config\",\"Product\",\"Unknown\"]},"
    "\"nature\":{\"type\":\"string\",\"enum\":[\"Gauge\",\"Limit\",\"Min\","
    "\"Max\",\"Rate\",\"Counter\",\"Duration\",\"Age\",\"Time\",\"Name\","
    "\"Output\",\"Avg\", \"Unknown\"]},"
    "\"scope\":{\"type\":\"string\",\"enum\":[\"Cluster\",\"Process\","
    "\"Service\",\"System\",\"Unknown\"]},"
    "\"required\":[\"origin\",\"nature\",\"scope\"]}";

/* Numbers of 64 bits are as exact as JavaScript's are. */
static const struct {
	const char *type, *limits;
} numbers[] = {
    {"s32", "\"minimum\":-2147483648,\"maximum\":2147483647"},
    {"s64", "\"minimum\":-9007199254740991,\"maximum\":9007199254740991"},
    {"u32", "\"minimum\":0,\"maximum\":4294967295"},
    {"u64", "\"minimum\":0,\"maximum\":9007199254740991"},
};

static void
put_values(FILE *out)
{
	fputs(
	    "\"typedValue\":{\"type\":\"object\",\"oneOf\":[" VALUE(
	        "s32Valu"
	        "e") "," VALUE("s64Value") "," VALUE("u32Value") "," VALUE("u64"
	                                                                   "Val"
	                                                                   "ue") "," VALUE("strValue") "],"
	                                                                                               "\"de"
	                                                                                               "fini"
	                                                                                               "tion"
	                                                                                               "s\":"
	                                                                                               "{",
	    out);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fprintf(out,
		    "\"%sValue\":{\"properties\":{\"type\":{\"type\":"
		    "\"string\",\"enum\":[\"%s\"]},\"value\":{\"type\":"
		    "\"integer\",%s}},\"required\":[\"type\",\"value\"]},",
		    numbers[i].type, numbers[i].type, numbers[i].limits);
	fputs("\"strValue\":{\"properties\":{\"type\":{\"type\":\"string\","
	      "\"enum\":[\"str\"]},\"value\":{\"type\":\"string\"}},"
	      "\"required\":[\"type\",\"value\"]},"
	      "\"unknownValue\":{\"properties\":{\"type\":" INTEGER ","
	      "\"value\":{\"type\":\"string\",\"enum\":[\"unknown\"]}},"
	      "\"required\":[\"type\",\"value\"]}}}",
	    out);
}

bool
run_show_schema(struct call *call)
{
	FILE *out = call->out;

	fprintf(out,
	    "{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
	    "\"oneOf\":[%s,%s,%s],\"definitions\":{%s,%s,",
	    info, stats, error, field, tags);
	put_values(out);
	fputs("}}\n", out);
	return true;
}
