import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Sdk } from "./clients";
import { data, describeClients, startTestServer } from "./test-server";

type Attachments = NonNullable<Parameters<Sdk["emails"]["send"]>[0]["attachments"]>;

/** Every byte value, with a length that is not a multiple of a base64 group. */
const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, n) => n)), randomBytes(1_001)]);

const testServer = await startTestServer();
const files = await testServer.world.sink(({ path }) =>
  path === "/report.pdf" ? { status: 200, body: bytes } : { status: 404, body: "no" },
);

describeClients(testServer, (client, account) => {
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

  // The server does not distinguish versions: forms of content are sent with one of them.
  const testNewest = client.isNewest ? test : () => {};

  testNewest("content type and content id are kept: an inline image in the HTML", async () => {
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

  test("attachments of an email are listed, read one by one, and downloaded by their link", async () => {
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
  });
});
