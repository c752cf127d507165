import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpSink } from "../support/servers/http-sink";
import { CLIENTS, type Sdk } from "./clients";
import { data, errorOf, errorWith, startTestServer, type TestAccount, type TestServer } from "./test-server";

type Attachments = NonNullable<Parameters<Sdk["emails"]["send"]>[0]["attachments"]>;

/** Every byte value, with a length that is not a multiple of a base64 group. */
const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, n) => n)), randomBytes(1_001)]);

let testServer: TestServer;
let files: HttpSink;
beforeAll(async () => {
  testServer = await startTestServer();
  files = await testServer.world.sink(({ path }) =>
    path === "/report.pdf" ? { status: 200, body: bytes } : { status: 404, body: "no" },
  );
});
afterAll(() => testServer.close());

describe.each(CLIENTS)("$name", (client) => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await testServer.account(client);
  });
  const send = (attachments: Attachments) => account.sdk.emails.send({ ...account.mail, attachments });
  const sentFilesOf = async (attachments: Attachments) => {
    const { id } = await data(send(attachments));
    const sentMessage = await testServer.sentMessage(id);
    return sentMessage.attachments.map(({ content, ...rest }) => ({
      ...rest,
      bytes: Buffer.from(content as ArrayBuffer),
    }));
  };
  const address = (path: string) => `http://127.0.0.1:${files.port}${path}`;

  const forms: [string, () => Attachments[number]][] = [
    ["as a Buffer", () => ({ content: bytes })],
    ["in base64", () => ({ content: bytes.toString("base64") })],
    ["as a URL", () => ({ path: address("/report.pdf") })],
    ...(client.isNewest
      ? [
          ["as a Uint8Array", () => ({ content: new Uint8Array(bytes) })] as [
            string,
            () => Attachments[number],
          ],
          ["as an ArrayBuffer", () => ({ content: new Uint8Array(bytes).buffer })] as [
            string,
            () => Attachments[number],
          ],
        ]
      : []),
  ];
  test.each(forms)("a file passed %s arrives as the same bytes", async (_, form) => {
    const [file] = await sentFilesOf([{ filename: "Bericht.pdf", ...form() }]);
    expect(file).toMatchObject({
      filename: "Bericht.pdf",
      mimeType: "application/pdf",
      disposition: "attachment",
    });
    expect(file?.bytes.equals(bytes)).toBe(true);
  });

  test("content type and content id are kept: an inline image in the HTML", async () => {
    const html = '<img src="cid:logo">';
    const { id } = await data(
      account.sdk.emails.send({
        ...account.mail,
        html,
        attachments: [
          { filename: "logo", content: bytes, contentType: "image/png", contentId: "logo" },
          {
            filename: "a.ics",
            content: "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n",
            contentType: "text/calendar",
          },
        ],
      }),
    );
    const sentMessage = await testServer.sentMessage(id);
    expect(sentMessage.html).toContain(html);
    expect(sentMessage.attachments).toMatchObject([
      { mimeType: "image/png", disposition: "inline", contentId: "<logo>" },
      { mimeType: "text/calendar", disposition: "attachment", filename: "a.ics" },
    ]);
  });

  test("attachments of an email are listed with both cursors, read one by one, and downloaded by their link", async () => {
    const { sdk } = account;
    const { id: emailId } = await data(
      send([
        { filename: "a.bin", content: bytes },
        { filename: "b.png", content: bytes, contentId: "b" },
        { filename: "c.txt", content: Buffer.from("text") },
      ]),
    );
    const list = await data(sdk.emails.attachments.list({ emailId }));
    expect(list).toMatchObject({
      object: "list",
      has_more: false,
      data: [
        { filename: "a.bin", size: bytes.length, content_disposition: "attachment" },
        { filename: "b.png", content_type: "image/png", content_disposition: "inline", content_id: "b" },
        { filename: "c.txt", size: 4, content_type: "text/plain" },
      ],
    });
    const ids = list.data.map(({ id }) => id);
    const page = async (options: object) => {
      const part = await data(sdk.emails.attachments.list({ emailId, ...options }));
      return { ids: part.data.map(({ id }) => id), more: part.has_more };
    };
    expect(await page({ limit: 1 })).toEqual({ ids: ids.slice(0, 1), more: true });
    expect(await page({ limit: 2, after: ids[0] })).toEqual({ ids: ids.slice(1), more: false });
    expect(await page({ limit: 1, before: ids[2] })).toEqual({ ids: ids.slice(1, 2), more: true });

    const one = await data(sdk.emails.attachments.get({ emailId, id: ids[0] ?? "" }));
    expect(one).toMatchObject({
      object: "attachment",
      id: ids[0],
      filename: "a.bin",
      size: bytes.length,
      content_type: expect.any(String),
      expires_at: expect.stringMatching(/Z$/),
    });
    const { pathname } = new URL(one.download_url);
    const download = await fetch(`http://127.0.0.1:${testServer.port}${pathname}`);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);

    const missing = randomUUID();
    expect(await errorOf(sdk.emails.attachments.get({ emailId, id: missing }))).toEqual(
      errorWith(404, "not_found"),
    );
    expect(await errorOf(sdk.emails.attachments.list({ emailId: missing }))).toEqual(
      errorWith(404, "not_found"),
    );
  });

  test("an invalid attachment is rejected with the reason", async () => {
    const errorFor = (attachment: object) => errorOf(send([attachment as Attachments[number]]));
    expect(await errorFor({ filename: "a.txt" })).toEqual(
      errorWith(422, "invalid_attachment", /content.*path/),
    );
    expect(await errorFor({ filename: "a.txt", content: "YQ==", path: address("/report.pdf") })).toEqual(
      errorWith(422, "invalid_attachment", /not both/),
    );
    expect(await errorFor({ path: address("/elsewhere.pdf") })).toEqual(
      errorWith(422, "invalid_attachment", /404/),
    );
    for (const path of [
      "file:///etc/passwd",
      "/etc/passwd",
      "http://10.0.0.1/a.txt",
      "https://169.254.169.254/latest/meta-data",
    ])
      expect(await errorFor({ path })).toEqual(errorWith(422, "invalid_attachment", /path/));
    const batch = [{ ...account.mail, attachments: [{ filename: "a", content: "YQ==" }] }];
    expect(
      await errorOf(account.sdk.batch.send(batch as unknown as Parameters<Sdk["batch"]["send"]>[0])),
    ).toEqual(errorWith(422, "validation_error", /batch/));
  });
});
