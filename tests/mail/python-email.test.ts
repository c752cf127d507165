import { describe, expect, test } from "vitest";
import { composeMessage, type Draft } from "#server/mail/mime/compose";
import { hasPython, readByPython } from "../support/python-email";
import { draft, mailbox, textOf } from "./drafts";
import { renderNewsletters } from "./newsletters";

const isThere = hasPython();
if (!isThere)
  process.stdout.write(
    "NOT RUN: Debian's python3 is not on this machine; its reading of our mail is left out.\n",
  );

const FIELDS = [
  ["date", "from", "to"],
  ["subject", "message-id", "mime-version", "content-type"],
] as const;
/** This parser keeps the space between two encoded words of a name, contrary to RFC 2047 section 6.2. */
const withoutBlanks = (name: string) => name.replaceAll(" ", "");
const lines = (text: string | null | undefined) => (text ?? "").replaceAll("\r\n", "\n").replace(/\n$/, "");

describe.runIf(isThere)("Python's standard library", { timeout: 120_000 }, () => {
  test("parses our email to its exact content, without additional fields and without defects", async () => {
    const newsletters = await renderNewsletters();
    const drafts = await Promise.all(
      newsletters.map(
        async ({ title, from, to, cc, subject, html, text }): Promise<Draft> =>
          draft({
            from: mailbox(from),
            to: to.map(mailbox),
            cc: cc.map(mailbox),
            subject,
            html,
            text: await textOf({ html, text }),
            boundarySeed: title,
          }),
      ),
    );
    const read = await readByPython(drafts.map(composeMessage));
    for (const [nth, { from, to, cc, subject, html, text }] of drafts.entries()) {
      const found = read[nth];
      expect(found).toMatchObject({
        defects: [],
        fields: [...FIELDS[0], ...(cc.length > 0 ? ["cc"] : []), ...FIELDS[1]],
        subject,
      });
      for (const [written, got] of [
        [[from], found?.from],
        [to, found?.to],
        [cc, found?.cc],
      ] as const)
        expect(got?.map(([name, address]) => [withoutBlanks(name), address])).toEqual(
          written.map(({ name, address }) => [withoutBlanks(name ?? ""), address]),
        );
      expect(found?.parts.map(({ type }) => type)).toEqual(["text/plain", "text/html"]);
      expect(lines(found?.parts[1]?.content)).toBe(lines(html));
      if (text !== null) expect(lines(found?.parts[0]?.content)).toBe(lines(text));
    }
  });

  test("parses attachments with their exact names and bytes", async () => {
    const content = Buffer.from(Array.from({ length: 1_000 }, (_, byte) => byte % 256));
    const names = [
      "plain.pdf",
      'a "quoted" \\ name.txt',
      "größer.pdf",
      "請求書 2026年11月 – sehr langer Name, der nicht auf eine Zeile passt und nicht gekürzt wird.pdf",
      "long-".repeat(30),
      "100%25; x=y.txt",
      "😀".repeat(40),
    ];
    const files = names.map((filename) => ({
      filename,
      contentType: "application/octet-stream",
      contentId: null,
      content,
    }));
    const [found] = await readByPython([composeMessage(draft({ files }))]);
    // Each non-ASCII name also has an ASCII form, which this parser ignores and reports as a defect.
    const remark = "InvalidHeaderDefect: duplicate parameter name; duplicate ignored";
    expect([...new Set(found?.defects)]).toEqual([remark]);
    expect(found?.parts.slice(2).map(({ filename }) => filename)).toEqual(names);
    for (const part of found?.parts.slice(2) ?? [])
      expect([part.disposition, part.content]).toEqual(["attachment", content.toString("base64")]);
  });
});
