import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import nodemailer from "nodemailer";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { tick } from "#server/delivery/tick";
import { getSource } from "#server/services/emails/read/source";
import { type SubmissionListener, startSubmission } from "#server/submission/listener";
import { forAllTests } from "../../support/fixtures";
import { postfixMissing, startPostfix } from "../../support/processes/postfix";
import { createWorld } from "../../support/world";
import { FILE, HTML, PROGRAMS, SUBJECT } from "./programs";

const run = promisify(execFile);
const world = forAllTests(() => createWorld());
let listener: SubmissionListener;
let token: string;
let folder: string;
beforeAll(async () => {
  token = (await world.key({ scopes: ["emails:send"] })).token;
  folder = await mkdtemp(path.join(tmpdir(), "submission-"));
  listener = await startSubmission(world.deps, {
    host: "127.0.0.1",
    port: 0,
    name: "mail.example.com",
    certificate: null,
    isImplicitTls: false,
  });
});
afterAll(async () => {
  await listener.close();
  await rm(folder, { recursive: true });
});

const idsOf = async () =>
  (await world.hot<{ id: string }[]>`select id from emails order by id`).map(({ id }) => id);

/** The only email that was accepted since `before`. */
async function newEmail(before: string[]) {
  const added = (await idsOf()).filter((id) => !before.includes(id));
  expect(added).toHaveLength(1);
  return world.email(added[0] ?? "");
}

async function expectWhole(email: Awaited<ReturnType<typeof newEmail>>): Promise<void> {
  expect(email).toMatchObject({ sender: "Ann <ann@example.org>", to: ["ben@example.net"], subject: SUBJECT });
  expect(email.html?.trim()).toBe(HTML);
  expect(email.text?.trim()).toBe("Text");
  const [file, ...others] = await world.hot<{ filename: string; content: Buffer }[]>`
    select filename, content from attachments where team_id = ${world.id} and email_id = ${email.id}`;
  expect(others).toEqual([]);
  expect(file?.filename).toBe("list.csv");
  expect(file?.content.toString().replaceAll("\r\n", "\n").trimEnd()).toBe(FILE.trimEnd());
}

describe.each(PROGRAMS)("$name", ({ name, isInstalled, debianPackages, command, args }) => {
  const isThere = isInstalled();
  if (!isThere) process.stdout.write(`NOT RUN: ${name} (Debian: apt-get install ${debianPackages})\n`);

  test.runIf(isThere)("submits an email with text, HTML and a file", async () => {
    const before = await idsOf();
    const env = { ...process.env, PORT: String(listener.port), TOKEN: token, FOLDER: folder };
    await run(command, args, { env });
    await expectWhole(await newEmail(before));
  });
});

test("nodemailer submits over a pool, and each message is committed before its 250", async () => {
  const transport = nodemailer.createTransport({
    host: "127.0.0.1",
    port: listener.port,
    pool: true,
    auth: { user: "resend", pass: token },
  });
  const before = await idsOf();
  const sent = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { response } = await transport.sendMail({
        from: "Ann <ann@example.org>",
        to: "ben@example.net",
        subject: SUBJECT,
        text: "Text",
        html: HTML,
        attachments: [{ filename: "list.csv", content: FILE }],
      });
      const id = response.split(" ").at(-1) ?? "";
      expect(await idsOf()).toContain(id);
      return id;
    }),
  );
  transport.close();
  expect(new Set(sent).size).toBe(8);
  expect(await idsOf()).toHaveLength(before.length + 8);
  await expectWhole(await world.email(sent[0] ?? ""));
});

if (postfixMissing !== null)
  process.stdout.write(`NOT RUN: ${postfixMissing}; it relays nothing through us.\n`);

test.runIf(postfixMissing === null)(
  "a Postfix relays through us, and its Received fields are not sent",
  async () => {
    const postfix = await startPostfix({
      mailboxes: ["ann"],
      routes: { "example.net": listener.port },
      settings: [
        "smtp_sasl_auth_enable = yes",
        `smtp_sasl_password_maps = static:backstamp:${token}`,
        "smtp_sasl_security_options =",
      ],
    });
    try {
      const before = await idsOf();
      const transport = nodemailer.createTransport({
        host: "127.0.0.1",
        port: postfix.port,
        ignoreTLS: true,
      });
      const raw =
        "From: Ann <ann@example.org>\r\nTo: ben@example.net, carl@example.net\r\nSubject:   Kept  \r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGröße\r\n.dot\r\n";
      await transport.sendMail({
        envelope: { from: "www-data@web.example", to: ["ben@example.net", "dora@example.net"] },
        raw,
      });
      transport.close();
      await vi.waitFor(async () => expect(await idsOf(), postfix.log()).toHaveLength(before.length + 1), {
        timeout: 60_000,
        interval: 100,
      });
      const email = await newEmail(before);
      expect(email).toMatchObject({ to: ["ben@example.net"], cc: [], bcc: ["dora@example.net"] });
      await tick(world.withTransport(), { budgetMs: 20_000 });
      const source = Buffer.from((await getSource(world.ctx, email.id)).bytes).toString();
      expect(source).not.toMatch(/^Received:/m);
      expect(source).toContain("Subject:   Kept");
      expect(source).toMatch(/\r\n\r\nGröße\r\n\.dot\r\n$/);
    } finally {
      await postfix.close();
    }
  },
);
