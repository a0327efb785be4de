/* SPDX-License-Identifier: MIT
 * `show schema json`: what `show info json` and `show stat json` look like, as
 * a JSON schema, draft 4.
 */
#include "commands/commands.h"

/* clang-format off */
#define REF(name)   "{\"$ref\":\"#/definitions/" name "\"}"
#define VALUE(name) REF("typedValue/definitions/" name)
#define INTEGER     "{\"type\":\"integer\",\"minimum\":0}"
#define STRING      "{\"type\":\"string\"}"

/* The fields that both kinds of items have. */
#define COMMON                                                                 \
	"\"field\":" REF("field") ",\"processNum\":" REF("processNum")         \
	",\"tags\":" REF("tags")

/* A 64-bit number, within the bounds that JavaScript's numbers hold exactly. */
#define NUMBER(type, minimum, maximum)                                         \
	"\"" type "Value\":{\"properties\":{\"type\":{\"type\":\"string\","    \
	"\"enum\":[\"" type "\"]},\"value\":{\"type\":\"integer\","            \
	"\"minimum\":" minimum ",\"maximum\":" maximum "}},"                   \
	"\"required\":[\"type\",\"value\"]},"

static const char schema[] =
	"{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"oneOf\":["
	"{\"title\":\"Info\",\"type\":\"array\",\"items\":{"
		"\"title\":\"InfoItem\",\"type\":\"object\",\"properties\":{"
		COMMON ",\"value\":" REF("typedValue") "},"
		"\"required\":[\"field\",\"processNum\",\"tags\",\"value\"]}},"
	"{\"title\":\"Stat\",\"type\":\"array\",\"items\":{"
		"\"title\":\"InfoItem\",\"type\":\"object\",\"properties\":{"
		"\"objType\":{\"enum\":[\"Frontend\",\"Backend\",\"Listener\","
		"\"Server\",\"Unknown\"]},"
		"\"proxyId\":" INTEGER ",\"id\":" INTEGER ","
		COMMON ",\"typedValue\":" REF("typedValue") "},"
		"\"required\":[\"objType\",\"proxyId\",\"id\",\"field\","
		"\"processNum\",\"tags\",\"value\"]}},"
	"{\"title\":\"Error\",\"type\":\"object\",\"properties\":{"
		"\"errorStr\":" STRING "},\"required\":[\"errorStr\"]}],"
	"\"definitions\":{"
	"\"field\":{\"type\":\"object\",\"pos\":" INTEGER ",\"name\":" STRING
		",\"required\":[\"pos\",\"name\"]},"
	"\"processNum\":{\"type\":\"integer\",\"minimum\":1},"
	"\"tags\":{\"type\":\"object\","
		"\"origin\":{\"type\":\"string\",\"enum\":[\"Metric\","
		"\"Status\",\"Key\",\"Config\",\"Product\",\"Unknown\"]},"
		"\"nature\":{\"type\":\"string\",\"enum\":[\"Gauge\",\"Limit\","
		"\"Min\",\"Max\",\"Rate\",\"Counter\",\"Duration\",\"Age\","
		"\"Time\",\"Name\",\"Output\",\"Avg\", \"Unknown\"]},"
		"\"scope\":{\"type\":\"string\",\"enum\":[\"Cluster\","
		"\"Process\",\"Service\",\"System\",\"Unknown\"]},"
		"\"required\":[\"origin\",\"nature\",\"scope\"]},"
	"\"typedValue\":{\"type\":\"object\",\"oneOf\":["
		VALUE("s32Value") "," VALUE("s64Value") ","
		VALUE("u32Value") "," VALUE("u64Value") ","
		VALUE("strValue") "],\"definitions\":{"
		NUMBER("s32", "-2147483648", "2147483647")
		NUMBER("s64", "-9007199254740991", "9007199254740991")
		NUMBER("u32", "0", "4294967295")
		NUMBER("u64", "0", "9007199254740991")
		"\"strValue\":{\"properties\":{\"type\":{\"type\":\"string\","
		"\"enum\":[\"str\"]},\"value\":" STRING "},"
		"\"required\":[\"type\",\"value\"]},"
		"\"unknownValue\":{\"properties\":{\"type\":" INTEGER ","
		"\"value\":{\"type\":\"string\",\"enum\":[\"unknown\"]}},"
		"\"required\":[\"type\",\"value\"]}}}}}\n";
/* clang-format on */

bool
run_show_schema(struct call *call)
{
	fputs(schema, call->out);
	return true;
}
