import { newId } from "#server/platform/ids";
import { createKey } from "#server/services/keys/keys";
import { createTemplate } from "#server/services/templates/write";
import type { Permission } from "#server/shared/roles";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";

/** A valid call of one route file below `app/console`. */
export type FileCall = {
  /** The permission that it requires. */
  permission: Permission;
  /** The parameters of its path, and of its query in addition to the team. */
  input: (party: RoleTeam) => Promise<Record<string, string>>;
  /** The parameters that contain ids. */
  names: readonly string[];
  /** The CSV body of a POST. Without it, and without `isForm`, the call is a GET. */
  body?: string;
  /** The parameters are sent as a form, because they must not be in a URL. */
  isForm?: true;
};

/** The calls by the folder of the route file. */
export function fileCalls({ world }: Console): Record<string, FileCall> {
  const content = "<script>alert(1)</script>";
  const emailOf = async ({ ctx }: RoleTeam) => {
    const files = [
      { source: { content: Buffer.from(content) }, filename: "a.html", contentType: null, contentId: null },
    ];
    const mail = {
      sender: "ann@backstamp.test",
      to: ["delivered@backstamp.test"],
      html: content,
      attachments: files,
    };
    return (await world.send(mail, ctx)).id;
  };
  const keyOf = async ({ ctx }: RoleTeam) =>
    (await createKey(ctx, { name: "Shop", scopes: ["emails:send"], domains: "all" })).key.id;
  const aboutEmail = {
    permission: "emails:read" as const,
    input: async (party: RoleTeam) => ({ id: await emailOf(party) }),
    names: ["id"],
  };
  let imported = 0;

  return {
    "activity/changes-file": {
      permission: "audit:read",
      input: async ({ userIds }) => ({ actor: userIds.owner, action: "key" }),
      names: ["actor"],
    },
    "activity/requests-file": {
      permission: "logs:read",
      input: async (party) => ({ key: await keyOf(party) }),
      names: ["key"],
    },
    "emails/export": {
      permission: "emails:read",
      input: async (party) => ({ key: await keyOf(party), search: newId() }),
      names: ["key", "search"],
    },
    "emails/[id]/body": aboutEmail,
    "emails/[id]/source": aboutEmail,
    "emails/[id]/files/[file]": {
      permission: "emails:read",
      input: async (party) => {
        const id = await emailOf(party);
        const [file] = await world.hot<{ id: string }[]>`select id from attachments where email_id = ${id}`;
        return { id, file: file?.id ?? "" };
      },
      names: ["id", "file"],
    },
    "settings/personal-data/export": {
      permission: "people:write",
      input: async () => ({ address: "ann@example.net" }),
      names: [],
      isForm: true,
    },
    "suppressions/export": { permission: "suppressions:read", input: async () => ({}), names: [] },
    "suppressions/import": {
      permission: "suppressions:write",
      input: async () => ({}),
      names: [],
      get body() {
        return `email\nimported-${++imported}@example.com\n`;
      },
    },
    "templates/[id]/body": {
      permission: "templates:read",
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
