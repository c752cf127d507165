import type { ServerResponse } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { filesMaxBytes } from "#server/services/emails/accept/attachments";
import { openTestApp } from "../rest/test-app";
import { type SinkReply, startHttpSink } from "../support/servers/http-sink";

const bodyMaxBytes = 1024 * 1024;

let reply: (path: string) => SinkReply = () => 404;
const app = await openTestApp({ bodyMaxBytes });
const other = await app.world.otherTeam();
const far = await startHttpSink(({ path }) => reply(path));
afterAll(() => far.close());

const files = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ path: `http://127.0.0.1:${far.port}/${n}.pdf` }));
const requestedPaths = () => far.received.splice(0).map(({ path }) => path);

async function sendLarge(token: string): Promise<number> {
  const newEmail = { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject: "Hello" };
  const body = { ...newEmail, html: "x".repeat(300 * 1024) };
  return (await app.world.api("POST", "/api/emails", { token, body })).status;
}

describe("attachments by URL", () => {
  test("are at most 20; with more, none is fetched", async () => {
    const { status, body } = await app.send({ attachments: files(21) });
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(/`attachments`.*At most 20 files by `path`/),
    });
    expect(requestedPaths()).toEqual([]);
  });

  test("are fetched four at a time and keep their order", async () => {
    const open: (() => void)[] = [];
    let most = 0;
    reply = (path) => (response: ServerResponse) => {
      open.push(() => response.end(`file ${path}`));
      most = Math.max(most, open.length);
      // The last ones respond first.
      if (open.length === 4) for (const finish of open.splice(0).reverse()) finish();
    };
    const id = await app.accepted({ attachments: files(8) });
    expect(most).toBe(4);
    expect(requestedPaths().sort()).toEqual(files(8).map((_, n) => `/${n}.pdf`));
    const rows = await app.world.deps.hot<{ filename: string; content: Buffer }[]>`
      select filename, content from attachments where email_id = ${id} order by filename`;
    expect(rows.map(({ filename, content }) => [filename, content.toString()])).toEqual(
      files(8).map((_, n) => [`${n}.pdf`, `file /${n}.pdf`]),
    );
  });

  test("share one deadline: files queued behind slow ones are not requested", {
    timeout: 120_000,
  }, async () => {
    const before = await app.world.rowCounts();
    reply = () => () => {};
    const { status, body } = await app.send({ attachments: files(8) });
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(/`attachments\[0\]\.path`/),
    });
    expect(requestedPaths().sort()).toEqual(["/0.pdf", "/1.pdf", "/2.pdf", "/3.pdf"]);
    expect(await app.world.rowCounts()).toEqual(before);
  });

  test("are all aborted if one cannot be fetched", async () => {
    const ended: Promise<unknown>[] = [];
    reply = (path) =>
      path === "/3.pdf"
        ? 404
        : (response: ServerResponse) =>
            ended.push(new Promise((resolve) => response.once("close", () => resolve(path))));
    const { status, body } = await app.send({ attachments: files(4) });
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(/`attachments\[3\]\.path` returned 404/),
    });
    await Promise.all(ended);
    requestedPaths();
  });

  test("count in the memory for large bodies: the team's next request waits, and another team's succeeds", async () => {
    const before = await app.world.rowCounts();
    const isWritten = new Promise<void>((resolve) => {
      reply = () => (response: ServerResponse) => {
        response.writeHead(200, { "content-length": filesMaxBytes });
        response.write(Buffer.alloc(filesMaxBytes - 1_000_000), () => resolve());
      };
    });
    let first: number | null = null;
    const held = app.send({ attachments: files(1) }).then(({ status, body }) => {
      first = status;
      return body;
    });
    await isWritten;
    const { token: theirs } = await other.key();
    expect(await sendLarge(theirs)).toBe(200);
    expect(first).toBe(null);

    expect(await sendLarge(app.token)).toBe(200);
    expect((await held).message).toMatch(/^The memory for large requests is full.*Retry in/);
    expect(first).toBe(503);
    const after = await app.world.rowCounts();
    expect([after.emails, after.attachments]).toEqual([Number(before.emails) + 2, before.attachments]);
  });
});
