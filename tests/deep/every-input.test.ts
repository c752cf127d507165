import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { OF_TEAMS, PROCEDURES, type Procedure } from "../console/declared";
import { createProcedureCalls } from "../console/procedure-calls";
import { oddValue } from "../fuzz/values";
import { type Console, cookiesOf, openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { type Field, unwrapSchema, withField } from "../support/database/schema-fields";
import { sampleOf } from "./sample";

/*
 * Walks the input schema of every procedure. Each text field is either an id field, which
 * `every-procedure.test.ts` tests with ids of other teams, or is listed here with its kind.
 */

const TEXTS: Record<string, string> = {
  action: "a kind of change, of a fixed set",
  alias: "what a template is to be called by",
  address: "an address, which is erased in the caller's own team",
  at: "a time as text",
  bcc: "hidden recipients",
  bounceCopiesTo: "a mailbox of the caller's own team",
  cc: "recipients of a copy",
  clientNetworks: "networks in CIDR notation",
  confirm: "the name of the caller's own team",
  domain: "a domain's name, which filters the caller's own list",
  email: "the address of the invitee",
  from: "a sender",
  html: "a template's source",
  key: "a variable's name",
  name: "a name, or a search for one",
  next: "the place where a part of the caller's own command starts",
  proof: "the caller's own password or code",
  recipient: "an address, which filters the caller's own list",
  recipient_domain: "a domain, which filters the caller's own list",
  recipients: "recipients of the email in the same input",
  repeatKey: "a key that the page generates",
  replyCopiesTo: "a mailbox of the caller's own team",
  replyTo: "addresses",
  returnPathLabel: "a label of a host name",
  search: "a search term for the caller's own list",
  sender: "an address, which filters the caller's own list",
  status: "statuses of emails, of a fixed set",
  subject: "a subject line, or part of one",
  tag: "a tag, which filters the caller's own list or counts",
  text: "text that a user typed or pasted",
  to: "a recipient",
  trackingSubdomain: "a label of a host name",
  url: "a URL to call",
};

const takesText = ({ schema }: Field) =>
  unwrapSchema(schema).some((core) => core instanceof z.ZodUUID || core instanceof z.ZodString);
const namesRows = ({ schema, path }: Field) =>
  unwrapSchema(schema).some((core) => core instanceof z.ZodUUID) ||
  path.some((part) => /^(ids?|.*Ids?)$/.test(String(part)));
const lastName = ({ path }: Field) => String(path.filter((part) => part !== 0).at(-1));

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
const calls = createProcedureCalls(console);

describe.each(OF_TEAMS)("$name", ({ name, fields }) => {
  const paths = fields.map(({ path }) => path.join("."));

  test("covers every id field with ids of other teams", () => {
    const names = calls[name]?.names ?? [];
    const open = fields
      .filter((field) => !names.includes(field.path.join(".")))
      .filter((field) => namesRows(field) || (takesText(field) && !(lastName(field) in TEXTS)))
      .filter(({ path }) => !paths.includes([...path, 0].join(".")));
    expect(open.map(({ path }) => path.join("."))).toEqual([]);
    expect(names.filter((each) => !paths.includes(each))).toEqual([]);
  });
});

test("every listed kind of text is used by a procedure", () => {
  const taken = new Set(OF_TEAMS.flatMap(({ fields }) => fields.filter(takesText).map(lastName)));
  expect(Object.keys(TEXTS).filter((name) => !taken.has(name))).toEqual([]);
});

/** Invalid text, and the expected error. */
const UNSTORABLE: [text: string, said: RegExp][] = [
  ["a\0b", /must not contain NUL/],
  ["\ud800", /half of a surrogate pair/],
  ["a\udfff", /half of a surrogate pair/],
];

/** Unknown fields. In JSON, `__proto__` is an ordinary field. */
const FOREIGN = ["__proto__", "constructor", "isAdmin"];

/** Malformed ids, and the allowed responses. */
const NO_IDS = ["", "0", "nothing", "x".repeat(36), "018f0000-0000-7000-8000-00000000000g", "%", "'"];
const EMPTY_FOR_UNKNOWN = "emails.eventDeliveries";
const REFUSED = ["NOT_FOUND", "BAD_REQUEST", "UNPROCESSABLE_CONTENT", "FORBIDDEN", "CONFLICT"];

describe.each(sampleOf(PROCEDURES))("$name", (procedure) => {
  test("rejects text that cannot be stored in any field, and unknown fields", async () => {
    const good = await inputOf(procedure);
    for (const { path } of procedure.fields)
      for (const [text, said] of UNSTORABLE)
        expect(await callWith(procedure, withField(good, path, text)), path.join(".")).toMatchObject({
          code: "BAD_REQUEST",
          message: expect.stringMatching(said),
        });
    for (const field of FOREIGN) {
      const foreign = Object.defineProperty({ ...good }, field, {
        value: { isAdmin: true },
        enumerable: true,
      });
      expect(await callWith(procedure, foreign), field).toMatchObject({ code: "BAD_REQUEST" });
    }
  });

  test("responds to a malformed id as to a missing row or an invalid field", async () => {
    const good = await inputOf(procedure);
    const answers = procedure.name === EMPTY_FOR_UNKNOWN ? [...REFUSED, undefined] : REFUSED;
    for (const field of procedure.fields.filter((each) => takesText(each) && namesRows(each)))
      for (const id of NO_IDS) {
        const { code } = await callWith(procedure, withField(good, field.path, id));
        expect(answers, `${field.path.join(".")} ${id}`).toContain(code);
      }
  });

  test("never fails with a server error on odd values: each is accepted or rejected", async () => {
    const good = await inputOf(procedure);
    const odd = fc.sample(oddValue, { numRuns: 8, seed: 7 });
    for (const { path } of procedure.fields)
      for (const value of odd) {
        const result = await callWith(procedure, withField(good, path, value));
        expect(result.code, `${path.join(".")} ${JSON.stringify(value)?.slice(0, 60)}`).not.toBe(
          "INTERNAL_SERVER_ERROR",
        );
      }
  });
});

/** The base input: valid for a procedure of a team, empty for an account procedure. */
async function inputOf({ name, permission }: Procedure): Promise<Record<string, unknown>> {
  return permission === undefined ? {} : { team: ann.teamId, ...(await calls[name]?.input(ann)) };
}

/**
 * An owner who also operates the installation, replaced after each successful call, which may have removed
 * what the next call needs.
 */
let caller: ReturnType<Console["callerOf"]> | null = null;

async function callWith({ name }: Procedure, input: unknown): Promise<{ code?: string; message?: string }> {
  if (!caller) {
    const { id } = await console.person({ teamId: ann.teamId, role: "owner" });
    await console.world.hot`update users set is_operator = true where id = ${id}`;
    caller = console.callerOf(await cookiesOf((await console.session(id)).id));
  }
  const [noun = "", verb = ""] = name.split(".");
  const run = (caller as unknown as Record<string, Record<string, Run>>)[noun]?.[verb];
  try {
    await run?.(input);
    caller = null;
    return {};
  } catch (error) {
    return error as { code: string; message: string };
  }
}
type Run = (input: unknown) => Promise<unknown>;
