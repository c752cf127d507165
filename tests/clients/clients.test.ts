import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { startHttpSink } from "../support/servers/http-sink";
import { openWorld, type TestTeam } from "../support/world";
import { clientNames, type RequestFixture, readRequests } from "./request-file";
import { SHAPES } from "./shapes";
import { type Answer, bytesOf, exchange, fill, type Values } from "./wire";

/**
 * The bytes that clients in other languages send, written to a socket of the product's HTTP server.
 * `requests/` names the source of each form.
 */

const file = Buffer.from("JVBERi0xLjQK++//", "base64");
const large = Buffer.alloc(900_000, "backstamp ").toString("base64");
const SOURCE = /^https:\/\/github\.com\/resend\/resend-[a-z]+\/blob\/[0-9a-f]{40}\/[\w./-]+$/;

const world = await openWorld();
const sink = await startHttpSink(() => ({
  status: 200,
  headers: { "content-type": "application/pdf" },
  body: file,
}));
const server = await openHttpServer({
  host: "127.0.0.1",
  port: 0,
  apiHost: "api.backstamp.test",
  rest: Promise.resolve(createRestApi(world.deps)),
  pages: {
    request: async (_, outgoing) => void outgoing.writeHead(404).end(),
    upgrade: async (_, socket) => void socket.destroy(),
  },
  upgrades: false,
  log: silentLog,
});
afterAll(async () => {
  await server.close(1_000);
  await sink.close();
});

test.each(clientNames)("every request of %s names its source", (client) => {
  for (const { title, source } of readRequests(client)) expect(source, title).toMatch(SOURCE);
});

describe.each(clientNames)("%s", (client) => {
  let team: TestTeam;
  let values: Values;
  beforeAll(async () => {
    team = await world.otherTeam(client);
    const { id: home } = await team.domain(`${client}.example.org`);
    const tomorrow = new Date(world.clock.now().getTime() + 24 * 60 * 60 * 1000);
    values = {
      token: (await team.key()).token,
      home,
      files: `http://127.0.0.1:${sink.port}`,
      large,
      tomorrow: tomorrow.toISOString().replace(/\.\d+Z$/, "Z"),
    };
  });

  for (const request of readRequests(client))
    test(nameOf(request), async () => {
      const bytes = bytesOf(request, values);
      const answer = await exchange(server.port, bytes);
      expectUnderstood(request, answer);
      const { id } = answer.body;
      if (request.keep !== null && typeof id === "string") values[request.keep] = id;
      if (request.head.some((line) => /^idempotency-key:/i.test(line)))
        expect((await exchange(server.port, bytes)).body).toEqual(answer.body);
      if (request.stored !== undefined)
        expect((await world.api("GET", `/api/emails/${id}`, { token: values.token })).body).toMatchObject(
          request.stored as object,
        );
      if (request.attached.length > 0)
        expect(await readFiles(team.id, String(id))).toEqual(
          request.attached.map((parts) => parts.map((part) => fill(part, values))),
        );
    });
});

const nameOf = ({ title, head }: RequestFixture): string => `${title}: ${head[0]}`;

/** What every client requires of every response, and what this request requires of its own. */
function expectUnderstood(request: RequestFixture, { status, headers, body }: Answer): void {
  const said = JSON.stringify(body);
  expect(status, said).toBe(request.status);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  // If it is present in a success, clients for Ruby and Laravel treat it as an error.
  if (status < 400) expect(body).not.toHaveProperty("statusCode");
  const read = SHAPES[request.shape]?.safeParse(body);
  expect(read?.error?.issues, said).toBeUndefined();
  expect(read?.success, `There is no shape ${request.shape}`).toBe(true);
  expect(body).toMatchObject(request.answers as object);
}

/** The attachments of an email in the database, in the notation of the request files. */
async function readFiles(teamId: string, emailId: string): Promise<string[][]> {
  const files = await world.hot<
    { filename: string | null; type: string; cid: string | null; content: Buffer }[]
  >`
    select filename, content_type as type, content_id as cid, content from attachments
    where team_id = ${teamId} and email_id = ${emailId} order by position`;
  return files.map(({ filename, type, cid, content }) => [
    filename ?? "-",
    type,
    cid ?? "-",
    content.toString("base64"),
  ]);
}
