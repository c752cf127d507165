import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Door, openDoor } from "#server/boot/node";
import { restDoorOf } from "#server/boot/rest-door";
import { silentLog } from "#server/log";
import { type HttpSink, startHttpSink } from "../support/http-sink";
import { createWorld, type TestTeam, type World } from "../support/world";
import { clientNames, type RequestFixture, readRequests } from "./request-file";
import { SHAPES } from "./shapes";
import { type Answer, bytesOf, exchange, fill, type Values } from "./wire";

/**
 * The bytes that clients in other languages really send, written on a socket to the product's own HTTP server. Where each form
 * can be seen is said beside it in `requests/`.
 */

const file = Buffer.from("JVBERi0xLjQK++//", "base64");
const large = Buffer.alloc(900_000, "posthorn ").toString("base64");
const SOURCE = /^https:\/\/github\.com\/resend\/resend-[a-z]+\/blob\/[0-9a-f]{40}\/[\w./-]+$/;

let world: World;
let door: Door;
let sink: HttpSink;
beforeAll(async () => {
  world = await createWorld();
  sink = await startHttpSink(() => ({
    status: 200,
    headers: { "content-type": "application/pdf" },
    body: file,
  }));
  door = await openDoor({
    host: "127.0.0.1",
    port: 0,
    apiHost: "api.posthorn.test",
    rest: Promise.resolve(restDoorOf(world.deps)),
    pages: {
      request: async (_, outgoing) => void outgoing.writeHead(404).end(),
      upgrade: async (_, socket) => void socket.destroy(),
    },
    upgrades: false,
    log: silentLog,
  });
});
afterAll(async () => {
  await door.close(1_000);
  await sink.close();
  await world.close();
});

test.each(clientNames)("every request of %s says where its form can be seen", (client) => {
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
      const answer = await exchange(door.port, bytes);
      expectUnderstood(request, answer);
      const { id } = answer.body;
      if (request.keep !== null && typeof id === "string") values[request.keep] = id;
      if (request.head.some((line) => /^idempotency-key:/i.test(line)))
        expect((await exchange(door.port, bytes)).body).toEqual(answer.body);
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

/** What every client asks of every answer, and what this request's asks of this one. */
function expectUnderstood(request: RequestFixture, { status, headers, body }: Answer): void {
  const said = JSON.stringify(body);
  expect(status, said).toBe(request.status);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  // Where it stands in a success, clients of Ruby and Laravel take that for a failure.
  if (status < 400) expect(body).not.toHaveProperty("statusCode");
  const read = SHAPES[request.shape]?.safeParse(body);
  expect(read?.error?.issues, said).toBeUndefined();
  expect(read?.success, `There is no shape ${request.shape}`).toBe(true);
  expect(body).toMatchObject(request.answers as object);
}

/** A mail's files as the database has them, in the words of the requests' files. */
async function readFiles(teamId: string, emailId: string): Promise<string[][]> {
  const files = await world.deps.hot<
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
