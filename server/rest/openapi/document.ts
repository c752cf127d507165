import type { Route } from "../route";
import { ERROR_SCHEMAS } from "./faults";
import { operationOf } from "./operation";
import type { Components, Parts, Schema } from "./schema";

/** The nouns, by the first segment of their paths, in the order in which a reader meets them. */
const NOUNS: Record<string, { name: string; description: string }> = {
  emails: { name: "Emails", description: "Accept mail for delivery, and see what became of it." },
  templates: {
    name: "Templates",
    description: "Content with placeholders, in versions. An alias serves as an id.",
  },
  domains: { name: "Domains", description: "Where mail may come from, and what to publish in DNS for it." },
  "api-keys": { name: "API keys", description: "Who may call, what for, and from which domains." },
  webhooks: {
    name: "Webhooks",
    description: "Endpoints that are told of events, signed as Standard Webhooks.",
  },
  suppressions: { name: "Suppressions", description: "Addresses that no mail goes to." },
  unsubscribe: {
    name: "Unsubscribe",
    description: "Where the link of a mail leads by which its recipient unsubscribes.",
  },
  opens: { name: "Opens", description: "The picture by which a mail tells that it was opened." },
  clicks: { name: "Clicks", description: "Where links of a mail lead first that are counted." },
  events: { name: "Events", description: "Everything that happens to mail, in order and without gaps." },
  usage: { name: "Usage", description: "What became of mail, in numbers." },
  logs: { name: "Logs", description: "Recent calls of this API and refusals." },
  attachments: { name: "Attachments", description: "Files of mails, by signed links." },
  inbound: { name: "Inbound", description: "What comes back: bounces and complaints." },
  health: { name: "Health", description: "For probes." },
  cron: { name: "Cron", description: "For schedulers, where no worker runs." },
  "openapi.json": { name: "Reference", description: "This document." },
};

const DESCRIPTION = `Send mail and see what became of it. JSON in and out, over HTTPS or on the machine itself.

**Keys.** Every call carries \`Authorization: Bearer <key>\` unless it says that it is open to anybody. A key is linked to domains, has scopes and may expire.

**Limits** are per key and minute, in a sliding window. Every answer says in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` where the key stands; a 429 says after how many seconds the call passes.

**Errors** are \`{ "error", "name", "message", "statusCode", "request_id" }\`; the bodies of 401, 403 and 429 are what their schemas say, to the letter. A field or parameter that is not known is refused by name. In a body \`null\`, \`""\` and \`[]\` say the same as leaving the field out, except for \`text: ""\`.

**Lists** are newest first; \`after\` takes the id of the last row for the next page, \`before\` goes back. Events are the exception: they come oldest first.

**Examples** take the address and the key from the environment: \`export POSTHORN_URL=http://localhost:3000 POSTHORN_KEY=re_…\`. Mail to \`posthorn.test\` goes to nobody and has a fate instead: \`delivered@\`, \`bounced@\`, \`complained@\`, \`deferred@\`.`;

const header = (description: string, schema: Schema): Schema => ({ description, schema });
const count = { type: "integer", minimum: 0 };

/** The OpenAPI 3.1 document of the routes, which is made of their declarations and of nothing else. */
export function documentOf(routes: readonly Route[]) {
  const components: Components = { schemas: { ...ERROR_SCHEMAS }, responses: {} };
  const paths: Parts = {};
  const met = new Set<string>();
  for (const route of routes) {
    const noun = route.path.split("/")[2] ?? "";
    met.add(noun);
    const operation = operationOf(route, nounOf(noun).name, components);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  return {
    openapi: "3.1.1" as const,
    info: {
      title: "Posthorn",
      version: "1",
      description: DESCRIPTION,
      license: { name: "MIT" },
    },
    // Wherever this document was loaded from.
    servers: [{ url: "/" }],
    tags: [...new Set([...Object.keys(NOUNS), ...met])].filter((noun) => met.has(noun)).map(nounOf),
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key with the scope that the call needs.",
        },
        operator: { type: "http", scheme: "bearer", description: "The operator's own secret." },
      },
      headers: {
        "X-RateLimit-Limit": header("Calls a minute.", count),
        "X-RateLimit-Remaining": header("Calls that are left.", count),
        "X-RateLimit-Reset": header("When the current minute ends, in seconds since 1970.", count),
        "X-Request-Id": header("Names this call in the log; a caller may give it.", { type: "string" }),
        "Retry-After": header("Seconds after which to call again.", count),
        "Idempotent-Replayed": header("`true` where this answer was given before.", { const: "true" }),
      },
      parameters: {
        "Idempotency-Key": {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "1 to 256 printable ASCII characters. A repetition under the same key and with the same payload within 24 hours does nothing and gets the same answer.",
          schema: { type: "string", minLength: 1, maxLength: 256 },
        },
      },
      ...components,
    },
  };
}

/** A noun without an entry is named by its path. */
const nounOf = (noun: string) => NOUNS[noun] ?? { name: noun, description: "" };
