import type { SampleCall } from "./sample-call";

type Arguments = (call: SampleCall) => unknown[];

const idOnly: Arguments = ({ variables }) => [variables[0]];
const bodyOnly: Arguments = ({ json }) => [camelCased(json)];
const idAndBody: Arguments = ({ variables, json }) => [variables[0], camelCased(json)];
const idInBody: Arguments = ({ variables, json }) => [{ id: variables[0], ...(camelCased(json) as object) }];
const listOptions: Arguments = ({ query }) => [optionsOf(query)];

/**
 * The calls of the official client of Resend, by route. A route is missing if the client has no such call, or
 * not with the fields or parameters of the example.
 */
const CALLS: Record<string, readonly [name: string, argumentsOf: Arguments]> = {
  "POST /api/emails": ["emails.send", (call) => [camelCased(call.json), ...requestOptionsOf(call)]],
  "POST /api/emails/batch": ["batch.send", (call) => [camelCased(call.json), ...requestOptionsOf(call)]],
  "GET /api/emails/{id}": ["emails.get", idOnly],
  "PATCH /api/emails/{id}": ["emails.update", idInBody],
  "POST /api/emails/{id}/cancel": ["emails.cancel", idOnly],
  "POST /api/templates": ["templates.create", bodyOnly],
  "GET /api/templates": ["templates.list", listOptions],
  "GET /api/templates/{id}": ["templates.get", idOnly],
  "PATCH /api/templates/{id}": ["templates.update", idAndBody],
  "DELETE /api/templates/{id}": ["templates.remove", idOnly],
  "POST /api/templates/{id}/publish": ["templates.publish", idOnly],
  "POST /api/templates/{id}/duplicate": ["templates.duplicate", idOnly],
  "POST /api/domains": ["domains.create", bodyOnly],
  "GET /api/domains": ["domains.list", listOptions],
  "GET /api/domains/{id}": ["domains.get", idOnly],
  "DELETE /api/domains/{id}": ["domains.remove", idOnly],
  "POST /api/domains/{id}/verify": ["domains.verify", idOnly],
  "GET /api/api-keys": ["apiKeys.list", listOptions],
  "DELETE /api/api-keys/{id}": ["apiKeys.remove", idOnly],
  "POST /api/webhooks": ["webhooks.create", bodyOnly],
  "GET /api/webhooks": ["webhooks.list", listOptions],
  "GET /api/webhooks/{id}": ["webhooks.get", idOnly],
  "PATCH /api/webhooks/{id}": ["webhooks.update", idAndBody],
  "DELETE /api/webhooks/{id}": ["webhooks.remove", idOnly],
  "POST /api/suppressions": ["suppressions.add", bodyOnly],
  "GET /api/suppressions": ["suppressions.list", listOptions],
  "GET /api/suppressions/{id}": ["suppressions.get", idOnly],
  "DELETE /api/suppressions/{id}": ["suppressions.remove", idOnly],
  "POST /api/suppressions/batch/add": ["suppressions.batch.add", bodyOnly],
  "POST /api/suppressions/batch/remove": ["suppressions.batch.remove", bodyOnly],
};

/** The sample of a call with the official client of Resend; null if the client does not have the call. */
export function resendOf(call: SampleCall): string | null {
  const [name, argumentsOf] = CALLS[call.route] ?? [];
  if (!name || !argumentsOf) return null;
  return [
    'import { Resend } from "resend"; // npm install resend',
    "",
    "const { BACKSTAMP_URL, BACKSTAMP_KEY } = process.env;",
    'const resend = new Resend(BACKSTAMP_KEY, { baseUrl: BACKSTAMP_URL + "/api" });',
    `const { data, error } = await resend.${name}(${argumentsOf(call).map(literalOf).join(", ")});`,
    "console.log(data ?? error);",
  ].join("\n");
}

const optionsOf = (query: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, name === "limit" ? Number(value) : value]),
  );

/** The headers of the example as the options of a call. */
function requestOptionsOf({ headers }: SampleCall): object[] {
  const names: Record<string, string> = {
    "Idempotency-Key": "idempotencyKey",
    "X-Batch-Validation": "batchValidation",
  };
  const options = headers.flatMap(([name, value]) => (names[name] ? [[names[name], value] as const] : []));
  return options.length === 0 ? [] : [Object.fromEntries(options)];
}

/**
 * The client converts the names of its options to those of the API. No example has names that a user chose.
 */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelCased(item),
    ]),
  );
}

/** A literal of JavaScript: JSON with unquoted names. */
const literalOf = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z]\w*)":/gm, "$1$2:");
