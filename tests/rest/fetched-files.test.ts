import { gzipSync } from "node:zlib";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCapture } from "#server/worker/capture";
import { tick } from "#server/worker/tick";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/http-sink";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
let elsewhere: HttpSink;
let far: HttpSink;
const large = Buffer.alloc(31_000_000, "large ");
beforeAll(async () => {
  desk = await openDesk({ transportKind: "capture" });
  elsewhere = await startHttpSink(() => ({ status: 200, body: "secret" }));
  const replies: Record<string, () => SinkReply> = {
    "/report.pdf": () => ({ status: 200, headers: { "content-type": "text/html" }, body: "%PDF-1.7" }),
    "/moved": () => ({ status: 302, headers: { location: `http://127.0.0.1:${elsewhere.port}/` } }),
    "/packed": () => ({ status: 200, headers: { "content-encoding": "gzip" }, body: gzipSync(large) }),
    "/large": () => ({ status: 200, body: large }),
  };
  far = await startHttpSink(({ path }) => replies[path]?.() ?? 404);
});
afterAll(async () => {
  await far.close();
  await elsewhere.close();
  await desk.close();
});

const addressOf = (path: string) => `http://127.0.0.1:${far.port}${path}`;

describe("a file that is given by its address", () => {
  test("is fetched when the mail is accepted, and is of the type that its name tells", async () => {
    const id = await desk.accepted({ attachments: [{ path: addressOf("/report.pdf") }] });
    await tick({ ...desk.world.deps, transport: createCapture(desk.world.deps.hot) }, { budgetMs: 20_000 });
    const rows = await desk.world.deps.hot<{ raw: Uint8Array }[]>`
      select raw from captured_messages where email_id = ${id}`;
    const { attachments } = await PostalMime.parse(rows[0]?.raw ?? "");
    expect(attachments).toMatchObject([{ filename: "report.pdf", mimeType: "application/pdf" }]);
    expect(far.received.map(({ method, path }) => [method, path])).toEqual([["GET", "/report.pdf"]]);
  });

  test.each([
    ["/moved", /302/],
    ["/packed", /compressed/],
    ["/large", /40 MB/],
    ["/missing", /404/],
  ])("%s is refused, nothing is kept, and nobody else is asked", async (path, message) => {
    const before = await desk.world.rowCounts();
    const { status, body } = await desk.send({ attachments: [{ path: addressOf(path) }] });
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(message),
    });
    expect(await desk.world.rowCounts()).toEqual(before);
    expect(elsewhere.received).toEqual([]);
  });
});

test("a mail that is attached is a file like any other, and arrives as the bytes that it was", async () => {
  const letter = "From: a@example.net\r\nSubject: inner\r\n\r\nHello\r\n";
  const content = Buffer.from(letter).toString("base64");
  const id = await desk.accepted({ attachments: [{ filename: "letter.eml", content }] });
  await tick({ ...desk.world.deps, transport: createCapture(desk.world.deps.hot) }, { budgetMs: 20_000 });
  const rows = await desk.world.deps.hot<{ raw: Uint8Array }[]>`
    select raw from captured_messages where email_id = ${id}`;
  const { attachments } = await PostalMime.parse(rows[0]?.raw ?? "");
  expect(attachments).toMatchObject([{ filename: "letter.eml", mimeType: "application/octet-stream" }]);
  expect(Buffer.from(attachments[0]?.content as ArrayBuffer).toString()).toBe(letter);
});
