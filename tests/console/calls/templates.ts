import { getTemplate } from "#server/services/templates/read";
import { createTemplate } from "#server/services/templates/write";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

const CONTENT = { subject: "Hi {{NAME}}", html: "<p>Hi {{NAME}}</p>", text: null } as const;

export function templateCalls(_: Console): ProcedureCalls {
  const make = async ({ ctx }: RoleTeam) => {
    const input = {
      name: "Welcome",
      alias: null,
      ...CONTENT,
      sender: "Ann <ann@backstamp.test>",
      replyTo: null,
      variables: null,
    };
    const { id } = await createTemplate(ctx, input, "draft");
    return getTemplate(ctx, id);
  };
  const named = async (party: RoleTeam) => ({ id: (await make(party)).id });
  const seen = async (party: RoleTeam) => {
    const { id, revision } = await make(party);
    return { id, revision };
  };

  return {
    "templates.list": {
      input: async (party) => ({ after: (await make(party)).id }),
      names: ["after", "before"],
    },
    "templates.get": { input: named, names: ["id"] },
    "templates.use": { input: named, names: ["id"] },
    "templates.versions": {
      input: async (party) => {
        const { id, version } = await make(party);
        return { id, after: version.id };
      },
      names: ["id", "after", "before"],
    },
    "templates.version": {
      input: async (party) => {
        const { id, version } = await make(party);
        return { id, version: version.id };
      },
      names: ["id", "version"],
    },
    "templates.preview": {
      input: async () => ({
        draft: { ...CONTENT, variables: [{ key: "NAME", type: "string" }] },
        values: { NAME: "Ann" },
        withText: true,
      }),
      names: [],
    },
    "templates.create": {
      input: async () => ({ name: "Welcome", alias: null, subject: null, html: "<p>Hi</p>" }),
      names: [],
    },
    "templates.save": {
      input: async (party) => ({ ...(await seen(party)), change: { subject: "Hello {{NAME}}" } }),
      names: ["id"],
    },
    "templates.publish": { input: seen, names: ["id"] },
    "templates.rollBack": {
      input: async (party) => {
        const { id, revision, version } = await make(party);
        return { id, revision, version: version.id };
      },
      names: ["id", "version"],
    },
    "templates.duplicate": { input: named, names: ["id"] },
    "templates.remove": { input: named, names: ["id"] },
    "templates.sendTest": {
      input: async (party) => ({
        ...(await named(party)),
        from: null,
        to: "delivered@backstamp.test",
        values: { NAME: "Ann" },
      }),
      names: ["id"],
    },
  };
}
