import { gzipSync } from "node:zlib";
import PostalMime from "postal-mime";
import { afterAll, describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { type SinkReply, startHttpSink } from "../support/servers/http-sink";
import { openTestApp } from "./test-app";

const large = Buffer.alloc(31_000_000, "large ");
const app = await openTestApp({ transportKind: "capture" });
const elsewhere = await startHttpSink(() => ({ status: 200, body: "secret" }));
const replies: Record<string, () => SinkReply> = {
  "/report.pdf": () => ({ status: 200, headers: { "content-type": "text/html" }, body: "%PDF-1.7" }),
  "/moved": () => ({ status: 302, headers: { location: `http://127.0.0.1:${elsewhere.port}/` } }),
  "/packed": () => ({ status: 200, headers: { "content-encoding": "gzip" }, body: gzipSync(large) }),
  "/large": () => ({ status: 200, body: large }),
};
const far = await startHttpSink(({ path }) => replies[path]?.() ?? 404);
afterAll(async () => {
  await far.close();
  await elsewhere.close();
});

const addressOf = (path: string) => `http://127.0.0.1:${far.port}${path}`;

describe("an attachment by URL", () => {
  test("is fetched when the email is accepted, and its type follows from its name", async () => {
    const id = await app.accepted({ attachments: [{ path: addressOf("/report.pdf") }] });
    const { attachments } = await PostalMime.parse(await app.captured(id));
    expect(attachments).toMatchObject([{ filename: "report.pdf", mimeType: "application/pdf" }]);
    expect(far.received.map(({ method, path }) => [method, path])).toEqual([["GET", "/report.pdf"]]);
  });

  test.each([
    ["/moved", /redirected \(302\)/],
    ["/packed", /compressed/],
    ["/large", /40 MB/],
    ["/missing", /404/],
  ])("%s is rejected, nothing is stored, and no other host is called", async (path, message) => {
    const before = await app.world.rowCounts();
    expect(await app.send({ attachments: [{ path: addressOf(path) }] })).toMatchObject(
      rejected(422, message),
    );
    expect(await app.world.rowCounts()).toEqual(before);
    expect(elsewhere.received).toEqual([]);
  });
});

test("an attached email is a normal file and arrives with the same bytes", async () => {
  const attached = "From: a@example.net\r\nSubject: inner\r\n\r\nHello\r\n";
  const content = Buffer.from(attached).toString("base64");
  const id = await app.accepted({ attachments: [{ filename: "attached.eml", content }] });
  const { attachments } = await PostalMime.parse(await app.captured(id));
  expect(attachments).toMatchObject([{ filename: "attached.eml", mimeType: "application/octet-stream" }]);
  expect(Buffer.from(attachments[0]?.content as ArrayBuffer).toString()).toBe(attached);
});
