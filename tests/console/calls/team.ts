import { memberships, ROLES } from "#db/schema/teams";
import { addDomain } from "#server/services/domains/write";
import { inviteMember } from "#server/services/members/invitations/send";
import { cancelTeamDeletion, requestTeamDeletion } from "#server/services/team-deletions/request";
import { type Console, PASSWORD } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function teamCalls(console: Console): ProcedureCalls {
  let guests = 0;
  const memberOf = async ({ teamId }: RoleTeam) => (await console.person({ teamId, role: "viewer" })).id;
  const invite = async ({ ctx }: RoleTeam) => {
    const { id } = await inviteMember(ctx, { email: `guest-${++guests}@example.org`, role: "viewer" });
    // A minimum time must pass between two links.
    await console.world.hot`
      update invitations set linked_at = linked_at - interval '1 hour' where id = ${id}`;
    return id;
  };
  /** The member rejoins, for the calls that follow. */
  const comeBack = async ({ teamId, userIds }: RoleTeam) => {
    const rows = ROLES.map((role) => ({ teamId, userId: userIds[role], role }));
    await console.deps.db.insert(memberships).values(rows).onConflictDoNothing();
  };

  const newDomain = async (ctx: RoleTeam["ctx"]) =>
    (await addDomain(ctx, { name: `team-${++guests}.example` })).id;

  return {
    "team.settings": { input: async () => ({}), names: [] },
    "team.change": { input: async () => ({ name: `Team ${++guests}`, unknown: "hold" }), names: [] },
    "team.copies": { input: async ({ ctx }) => ({ domain: await newDomain(ctx) }), names: ["domain"] },
    "team.setCopies": {
      input: async ({ teamId, ctx }) => {
        const [member] = await console.world.hot<{ email: string }[]>`
          select u.email from users u join memberships m on m.user_id = u.id where m.team_id = ${teamId} limit 1`;
        const mailboxes = { bounceCopiesTo: member?.email ?? null, replyCopiesTo: null };
        return { domain: await newDomain(ctx), mailboxes };
      },
      names: ["domain"],
    },
    "team.setRetention": { input: async () => ({ bodiesDays: ++guests, emailsDays: null }), names: [] },
    "team.deletion": { input: async () => ({}), names: [] },
    "team.requestDeletion": {
      input: async ({ teamId, ctx }) => {
        await cancelTeamDeletion(ctx).catch(() => {});
        const [team] = await console.world.hot<
          { name: string }[]
        >`select name from teams where id = ${teamId}`;
        return { confirm: team?.name ?? "", proof: PASSWORD };
      },
      names: [],
      afterwards: async ({ ctx }) => void (await cancelTeamDeletion(ctx).catch(() => {})),
    },
    "team.cancelDeletion": {
      input: async ({ teamId, ctx }) => {
        const [team] = await console.world.hot<
          { name: string }[]
        >`select name from teams where id = ${teamId}`;
        await requestTeamDeletion(ctx, { confirm: team?.name ?? "" }).catch(() => {});
        return {};
      },
      names: [],
      afterwards: async ({ ctx }) => void (await cancelTeamDeletion(ctx).catch(() => {})),
    },
    "personalData.erasures": { input: async () => ({}), names: [] },
    "personalData.erase": {
      input: async () => ({ address: `gone-${++guests}@example.net`, suppresses: true }),
      names: [],
    },
    "members.list": { input: async () => ({}), names: [] },
    "members.changeRole": {
      input: async (party) => ({ userId: await memberOf(party), role: "member" }),
      names: ["userId"],
    },
    "members.remove": { input: async (party) => ({ userId: await memberOf(party) }), names: ["userId"] },
    "members.leave": {
      input: async ({ teamId }) => {
        await console.person({ teamId, role: "owner" });
        return {};
      },
      names: [],
      afterwards: comeBack,
    },
    "invitations.list": { input: async () => ({}), names: [] },
    "invitations.create": {
      input: async () => ({ email: `guest-${++guests}@example.org`, role: "viewer" }),
      names: [],
    },
    "invitations.renew": { input: async (party) => ({ id: await invite(party) }), names: ["id"] },
    "invitations.withdraw": { input: async (party) => ({ id: await invite(party) }), names: ["id"] },
  };
}
