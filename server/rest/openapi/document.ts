import { z } from "zod";
import { API_TAGS } from "#server/shared/guides";
import { type Route, withApi } from "../pipeline/route";
import { ERROR_SCHEMAS } from "./faults";
import { operationOf } from "./operation";
import type { Components, Parts, Schema } from "./schema";
import { webhooksOf } from "./webhook-events";

/** The tags, by the first segment of their paths. */
const TAGS = Object.assign({}, ...API_TAGS.map(({ tags }) => tags)) as (typeof API_TAGS)[number]["tags"];

const DESCRIPTION = `Send email and track its delivery. Requests and responses are JSON, over HTTPS or on localhost.

**Keys.** Every call requires \`Authorization: Bearer <key>\`, except those marked as public. A key is linked to domains, has scopes and may expire. It can send, retry, reschedule, cancel and settle only email from its domains; its other scopes cover the whole team.

**Rate limits** apply per key and minute, in a sliding window. Every response reports the state of the limit in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. A 429 reports in \`retryAfter\` how many seconds to wait before a retry.

**Errors** are \`{ "error", "name", "message", "statusCode", "request_id" }\`; 401, 403 and 429 have exactly the bodies in their schemas. \`X-Backstamp-Reason\` gives the reason of a 403. An unknown field or parameter is rejected with an error that names it. In a request body \`null\`, \`""\` and \`[]\` are equivalent to omitting the field, with two exceptions: \`text: ""\`, and an empty array of \`scopes\` or \`domains\` of an API key.

**Lists** are sorted newest first. For the next page, send the id of the last row as \`after\`; for the previous page, send the id of the first row as \`before\`. Events are the exception: they are sorted oldest first.

**Examples** read the base URL and the key from environment variables: \`export BACKSTAMP_URL=http://localhost:3000 BACKSTAMP_KEY=re_…\`.

**Test addresses.** Email to \`backstamp.test\` is never sent; the address determines the simulated outcome: \`delivered@\`, \`bounced@\`, \`complained@\`, \`deferred@\`.`;

const header = (description: string, schema: Schema): Schema => ({ description, schema });
const count = { type: "integer", minimum: 0 };

/**
 * The OpenAPI 3.1 document of the routes and of the events of webhooks, generated only from their
 * declarations.
 */
export function documentOf(routes: readonly Route[]) {
  const components: Components = { schemas: { ...ERROR_SCHEMAS }, responses: {} };
  const paths: Parts = {};
  const segments = new Set<string>();
  for (const route of routes) {
    const segment = route.path.split("/")[2] ?? "";
    segments.add(segment);
    const operation = operationOf(route, tagOf(segment).name, components);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  return {
    openapi: "3.1.1" as const,
    info: {
      title: "Backstamp",
      version: "1",
      description: DESCRIPTION,
      license: { name: "MIT" },
    },
    // Relative to the URL of this document.
    servers: [{ url: "/" }],
    tags: [...new Set([...Object.keys(TAGS), ...segments])]
      .filter((segment) => segments.has(segment))
      .map(tagOf),
    paths,
    webhooks: webhooksOf(),
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key with the required scope.",
        },
        operator: { type: "http", scheme: "bearer", description: "A secret of the operator." },
      },
      headers: {
        "X-RateLimit-Limit": header("Maximum calls per minute.", count),
        "X-RateLimit-Remaining": header("Calls remaining in the current window.", count),
        "X-RateLimit-Reset": header("Unix time at which the window resets, in seconds.", count),
        "X-Request-Id": header("Identifies this call in the log. A caller may set it in the request.", {
          type: "string",
        }),
        "Retry-After": header("Seconds to wait before a retry.", count),
        "X-Backstamp-Reason": header(
          'Why the key was rejected, as a structured field (RFC 9651): `missing_scope`, `domain_not_linked`, `exceeds_calling_key` or `client_address_not_allowed`, with a sentence in `detail`. Example: `missing_scope;detail="This key lacks the scope domains:read. Use or create a key that has this scope."`',
          { type: "string" },
        ),
        "Idempotent-Replayed": header("`true` if this is the stored response of an earlier request.", {
          const: "true",
        }),
      },
      parameters: {
        "Idempotency-Key": {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "1 to 256 printable ASCII characters. A repeated request with the same value and the same payload within 24 hours has no effect and returns the stored response. The value belongs to the team: a repeat with another API key of the team returns the same response.",
          schema: { type: "string", minLength: 1, maxLength: 256 },
        },
      },
      ...components,
    },
  };
}

/** The tag of a path segment. A segment without an entry is its own name. */
const tagOf = (segment: string) => TAGS[segment] ?? { name: segment, description: "" };

/**
 * The route that serves the API reference of all routes, including itself. The document is generated on the
 * first call.
 */
export function referenceOf(listRoutes: () => readonly Route[]): Route {
  let document: ReturnType<typeof documentOf> | undefined;
  return withApi({
    route: "GET /api/openapi.json",
    access: "public",
    tier: "none",
    summary: "Get this API reference as an OpenAPI 3.1 document",
    response: z.looseObject({
      openapi: z.literal("3.1.1"),
      info: z.looseObject({ title: z.string(), version: z.string() }),
      paths: z.record(z.string(), z.unknown()),
    }),
    handle: async () => {
      document ??= documentOf(listRoutes());
      return document;
    },
  });
}
