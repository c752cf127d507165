import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { newId } from "#server/platform/ids";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createSignedLinks } from "#server/platform/secrets/signed-links";
import { buildDeps } from "#server/startup/deps";
import { installationSecret, installationUrl } from "../support/deps";
import { openTestApp } from "./test-app";

const app = await openTestApp();

type File = Record<string, unknown> & { id: string; download_url: string };

const PDF = {
  filename: "invoice.pdf",
  content: Buffer.from("%PDF-1.7 invoice").toString("base64"),
};
const LOGO = {
  filename: "logo.png",
  content: Buffer.from("a logo").toString("base64"),
  content_id: "logo",
};

async function filesOf(email: string, query = ""): Promise<{ files: File[]; hasMore: unknown }> {
  const { status, body, text } = await app.get(`/api/emails/${email}/attachments${query}`);
  expect(status, text).toBe(200);
  expect(body.object).toBe("list");
  return { files: body.data as File[], hasMore: body.has_more };
}

async function fileOf(attachment: object): Promise<File> {
  const email = await app.accepted({ attachments: [attachment] });
  const [file] = (await filesOf(email)).files;
  if (!file) throw new Error("the email has no attachment");
  return file;
}

/** The path of the link, to call the server of this test instead of the public URL. */
const localPath = (link: string) => link.replace(installationUrl, "");
const download = (link: string, init?: RequestInit) => fetch(`${app.world.baseUrl}${localPath(link)}`, init);

describe("attachments of an email", () => {
  test("are listed in the order of the email, with their metadata", async () => {
    const email = await app.accepted({ attachments: [PDF, LOGO, { content: "aGk=" }] });
    const { files, hasMore } = await filesOf(email);
    expect(hasMore).toBe(false);
    const common = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      download_url: expect.stringMatching(/^https:\/\/mail\.example\.com\/api\/attachments\/[\w-]+$/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    };
    // Resend clients do not accept null here, so missing values are absent.
    expect(files).toEqual([
      {
        ...common,
        filename: "invoice.pdf",
        size: 16,
        content_type: "application/pdf",
        content_disposition: "attachment",
      },
      {
        ...common,
        filename: "logo.png",
        size: 6,
        content_type: "image/png",
        content_disposition: "inline",
        content_id: "logo",
      },
      { ...common, size: 2, content_type: "application/octet-stream", content_disposition: "attachment" },
    ]);
  });

  const bytes = Buffer.from([0xfb, 0xff, 0xfe, ...Buffer.from("a file of some length: ÿ".repeat(4))]);
  const base64 = bytes.toString("base64");
  test.each<[form: string, content: string, expected: Buffer]>([
    ["base64url without padding", bytes.toString("base64url"), bytes],
    ["a data: URI", `data:application/pdf;name=a.pdf;base64,${base64}`, bytes],
    ["a data: URI without a type", `data:;base64,${bytes.toString("base64url")}`, bytes],
    ["base64 in lines", base64.replace(/.{20}/g, "$&\r\n"), bytes],
    ["base64 with blanks", `  ${base64.replace(/.{20}/g, "$& ")}\t`, bytes],
    ["plain text", "Hello world", Buffer.from("Hello world")],
    [
      "text about a data: URI",
      "data:text/plain;base64,no, it is not",
      Buffer.from("data:text/plain;base64,no, it is not"),
    ],
  ])("may be %s", async (_form, content, expected) => {
    const { download_url } = await fileOf({ filename: "a.bin", content });
    expect(Buffer.from(await (await download(download_url)).arrayBuffer())).toEqual(expected);
  });

  test("a single attachment has the same fields as in the list", async () => {
    const email = await app.accepted({ attachments: [PDF, LOGO] });
    const [, logo] = (await filesOf(email)).files;
    const { status, body } = await app.get(`/api/emails/${email}/attachments/${logo?.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...logo,
      object: "attachment",
      download_url: expect.any(String),
      expires_at: expect.any(String),
    });
  });

  test("support both cursors", async () => {
    const attachments = ["0.txt", "1.txt", "2.txt"].map((filename) => ({ filename, content: "aGk=" }));
    const email = await app.accepted({ attachments });
    const page = async (query: string) => {
      const { files, hasMore } = await filesOf(email, query);
      return [files.map(({ filename }) => filename), hasMore];
    };
    const { files } = await filesOf(email);
    expect(await page("?limit=1")).toEqual([["0.txt"], true]);
    expect(await page(`?limit=2&after=${files[0]?.id}`)).toEqual([["1.txt", "2.txt"], false]);
    expect(await page(`?limit=1&before=${files[2]?.id}`)).toEqual([["1.txt"], true]);
  });

  test("the list is empty for an email without attachments, and 404 for a missing email", async () => {
    expect(await filesOf(await app.accepted())).toEqual({ files: [], hasMore: false });
    const missing = await app.get(`/api/emails/${newId()}/attachments`);
    expect([missing.status, missing.body.message]).toEqual([404, "Email not found"]);
  });

  test("an attachment is found only below its own email", async () => {
    const email = await app.accepted({ attachments: [PDF] });
    const another = await app.accepted({ attachments: [PDF] });
    const [file] = (await filesOf(email)).files;
    const { status, body } = await app.get(`/api/emails/${another}/attachments/${file?.id}`);
    expect([status, body.message]).toEqual([404, "Attachment not found"]);
  });
});

describe("a download link", () => {
  test("returns the exact bytes without a key, as a download that browsers do not render", async () => {
    // Larger than one read from the database, and not a multiple of its size.
    const bytes = randomBytes(3 * 1024 * 1024 + 17);
    const file = await fileOf({ filename: "scan.html", content: bytes.toString("base64") });
    const answer = await download(file.download_url);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html",
      "content-disposition": 'attachment; filename="scan.html"',
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    const hash = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");
    expect(hash(new Uint8Array(await answer.arrayBuffer()))).toBe(hash(bytes));
  });

  test.each([
    ["請求書.pdf", "filename=\"___.pdf\"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf"],
    ["😀.txt", "filename=\"_.txt\"; filename*=UTF-8''%F0%9F%98%80.txt"],
    ['a".exe;x="b.txt', "filename=\"a_.exe;x=_b.txt\"; filename*=UTF-8''a%22.exe%3Bx%3D%22b.txt"],
  ])("keeps the complete file name %s inside its quotes", async (filename, expected) => {
    const file = await fileOf({ filename, content: "aGk=" });
    expect(file.filename).toBe(filename);
    const { headers } = await download(file.download_url);
    expect(headers.get("content-disposition")).toBe(`attachment; ${expected}`);
  });

  test("names a file without a name after its type", async () => {
    const file = await fileOf({ content: "aGk=", content_type: "image/png" });
    const { headers } = await download(file.download_url);
    expect(headers.get("content-disposition")).toBe('attachment; filename="attachment.png"');
    const nothing = await fileOf({ content: "aGk=", content_type: "x/unheard-of" });
    const answer = await download(nothing.download_url);
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="attachment"');
  });

  test("is valid for one hour, then returns the same response as an invalid link", async () => {
    const file = await fileOf(PDF);
    const leftMs = Date.parse(String(file.expires_at)) - app.world.clock.now().getTime();
    expect(leftMs).toBeGreaterThan(3_500_000);
    expect(leftMs).toBeLessThanOrEqual(3_600_000);
    expect((await download(file.download_url)).status).toBe(200);
    app.world.clock.advance(3_600_000);
    const expired = await app.world.api("GET", localPath(file.download_url), { headers: sameId });
    const forged = await app.world.api("GET", "/api/attachments/made-up", { headers: sameId });
    expect(expired.status).toBe(404);
    expect(expired.body).toMatchObject({
      name: "not_found",
      message: expect.stringMatching(/links are valid for one hour/),
    });
    expect(expired.text).toBe(forged.text);
  });

  test("is rejected if any single character is changed, removed or added", async () => {
    const path = localPath((await fileOf(PDF)).download_url);
    const start = "/api/attachments/".length;
    const changed = (at: number) => path.slice(0, at) + (path[at] === "A" ? "B" : "A") + path.slice(at + 1);
    const last = path.length - 1;
    const wrong = [
      ...Array.from({ length: Math.ceil((path.length - start) / 8) }, (_, n) => changed(start + 8 * n)),
      changed(last),
      path.slice(0, last),
      `${path}A`,
      `${path}=`,
      `${path}%20`,
    ];
    for (const each of wrong) expect((await app.world.api("GET", each)).status, each).toBe(404);
    expect((await app.world.api("GET", path)).status).toBe(200);
  });

  test("is bound to the team, the email, the file, its route, and the secret of the installation", async () => {
    const { world } = app;
    const email = await app.accepted({ attachments: [PDF] });
    const [file] = (await filesOf(email)).files;
    const id = String(file?.id);
    const later = new Date(world.clock.now().getTime() + 60_000);
    const ours = createSignedLinks(createKeyring([installationSecret]), installationUrl);
    const call = async (link: string) => (await world.api("GET", localPath(link))).status;
    const path = "/api/attachments/{token}";
    expect(await call(ours.make(path, [world.id, email, id], later))).toBe(200);
    const other = await world.otherTeam();
    const strangers = createSignedLinks(
      createKeyring(["the secret of another installation"]),
      installationUrl,
    );
    expect(await call(strangers.make(path, [world.id, email, id], later))).toBe(404);
    expect(await call(ours.make(path, [other.id, email, id], later))).toBe(404);
    expect(await call(ours.make(path, [world.id, id, email], later))).toBe(404);
    expect(await call(ours.make(path, [world.id, email], later))).toBe(404);
    expect(await call(ours.make(path, [], later))).toBe(404);
    const elsewhere = ours.make("/api/unsubscribe/{token}", [world.id, email, id], later);
    expect(await call(elsewhere.replace("unsubscribe", "attachments"))).toBe(404);
  });

  test("starts with the public URL of the installation, whatever the request contains", async () => {
    const settings = readSettings(
      { BACKSTAMP_URL: "https://post.example.org", BACKSTAMP_SECRET: installationSecret },
      "start",
    );
    const built = buildDeps({ ...settings, databaseUrl: app.world.databaseUrl });
    const link = built.deps.links.make("/api/attachments/{token}", [newId()], new Date(0));
    await built.close();
    expect(link).toMatch(/^https:\/\/post\.example\.org\/api\/attachments\/[\w-]+$/);
    const email = await app.accepted({ attachments: [PDF] });
    const headers = { host: "evil.example.com", "x-forwarded-host": "evil.example.com" };
    const { token } = app;
    const { text } = await app.world.api("GET", `/api/emails/${email}/attachments`, { token, headers });
    expect(text).toContain(installationUrl);
    expect(text).not.toContain("evil");
  });

  test("responds to HEAD without reading the file", async () => {
    const file = await fileOf(PDF);
    const answer = await download(file.download_url, { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="invoice.pdf"');
  });
});

const sameId = { "x-request-id": "same-for-both" };
