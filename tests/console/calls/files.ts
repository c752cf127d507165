import { newId } from "#server/ids";
import type { Right } from "#server/roles";
import { createKey } from "#server/services/keys/keys";
import { createTemplate } from "#server/services/templates/write";
import type { Console } from "../../support/console";
import type { Party } from "../../support/parties";

/** A good call of one route file below `app/console`. */
export type FileCall = {
  /** What it asks for. */
  right: Right;
  /** What stands in the places of its path, and beside the team in its query. */
  input: (party: Party) => Promise<Record<string, string>>;
  /** Those of them that name rows. */
  names: readonly string[];
  /** What is sent to it, as CSV; it is asked by GET otherwise. */
  body?: string;
};

/** By the folder of the file. */
export function fileCalls({ house }: Console): Record<string, FileCall> {
  const content = "<script>alert(1)</script>";
  const emailOf = async ({ ctx }: Party) => {
    const files = [
      { source: { content: Buffer.from(content) }, filename: "a.html", contentType: null, contentId: null },
    ];
    const mail = {
      sender: "ann@posthorn.test",
      to: ["delivered@posthorn.test"],
      html: content,
      attachments: files,
    };
    return (await house.send(mail, ctx)).id;
  };
  const keyOf = async ({ ctx }: Party) =>
    (await createKey(ctx, { name: "Shop", scopes: ["emails:send"], domains: "all" })).key.id;
  const aboutEmail = {
    right: "emails:read" as const,
    input: async (party: Party) => ({ id: await emailOf(party) }),
    names: ["id"],
  };
  let imported = 0;

  return {
    "activity/changes-file": {
      right: "audit:read",
      input: async ({ userIds }) => ({ actor: userIds.owner, action: "key" }),
      names: ["actor"],
    },
    "activity/requests-file": {
      right: "logs:read",
      input: async (party) => ({ key: await keyOf(party) }),
      names: ["key"],
    },
    "emails/export": {
      right: "emails:read",
      input: async (party) => ({ key: await keyOf(party), search: newId() }),
      names: ["key", "search"],
    },
    "emails/[id]/body": aboutEmail,
    "emails/[id]/source": aboutEmail,
    "emails/[id]/files/[file]": {
      right: "emails:read",
      input: async (party) => {
        const id = await emailOf(party);
        const [file] = await house.hot<{ id: string }[]>`select id from attachments where email_id = ${id}`;
        return { id, file: file?.id ?? "" };
      },
      names: ["id", "file"],
    },
    "suppressions/export": { right: "suppressions:read", input: async () => ({}), names: [] },
    "suppressions/import": {
      right: "suppressions:write",
      input: async () => ({}),
      names: [],
      get body() {
        return `email\nimported-${++imported}@example.com\n`;
      },
    },
    "templates/[id]/body": {
      right: "templates:read",
      input: async ({ ctx }) => {
        const says = {
          subject: "Hi",
          html: content,
          text: null,
          sender: null,
          replyTo: null,
          variables: null,
        };
        const { id } = await createTemplate(ctx, { name: "Welcome", alias: null, ...says }, "draft");
        return { id, values: "{}" };
      },
      names: ["id"],
    },
  };
}
