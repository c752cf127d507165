import type { Ctx } from "#server/deps";
import { cli } from "#server/platform/env/cli";
import {
  getHeldEmail,
  type HeldChoice,
  heldCountMax,
  listTeamsWithHeld,
  settleHeld,
} from "#server/services/restores/held";
import { holdQueue } from "#server/services/restores/hold-queue";
import { findTeam } from "#server/services/teams";
import { OperatorError } from "../../../launcher/operator-error";
import { asText, asTime } from "../../arguments";
import { examples, flag, inDatabase, option } from "../../command";
import { operatorCtx } from "../../session";
import { output } from "../../terminal";

export const hold = inDatabase({
  params: {
    confirm: flag("confirms that this database is the copy, and that its original is no longer used"),
  },
  isUnchanged: true,
  run: async ({ deps }, { confirm }) => {
    if (!confirm)
      throw new OperatorError(
        "This holds all queued email, ends all sessions and lets pending invitations expire, as a restore does. Add --confirm.",
      );
    const { held, unknown } = await holdQueue(deps);
    return {
      json: { held, unknown },
      text: [
        `${countOf(held)} ${held === 1 ? "is" : "are"} held. They may have been sent after the copy was made.`,
        `With an unknown outcome: ${countOf(unknown)}.`,
      ],
      notes: [`Start Backstamp, then decide on the overview of the console or by: ${cli} release`],
    };
  },
});

/** The decision about email that is held after a restore. */
export const release = inDatabase({
  params: {
    all: flag("sends all of it; what was sent after the backup arrives twice"),
    acceptedAfter: option(
      "time",
      "sends what was accepted at or after this time; the rest stays held",
      asTime,
    ),
    acceptedBefore: option("time", "sends what was accepted at or before it; the rest stays held", asTime),
    scheduledAfter: option("time", "sends what is scheduled for later than it; the rest stays held", asTime),
    none: flag("cancels all that is still held"),
    team: option("team", "only this team, by id or name (default: all teams)", asText),
  },
  help: examples("release --scheduled-after 2030-01-31T12:00:00Z", "release --none"),
  run: async ({ deps }, { team, all, none, ...given }) => {
    const { acceptedAfter = null, acceptedBefore = null, scheduledAfter = null } = given;
    const choice = readChoice(all, none, { acceptedAfter, acceptedBefore, scheduledAfter });
    const teamIds = team === undefined ? await listTeamsWithHeld(deps) : [(await findTeam(deps, team)).id];
    let [settled, held] = [0, 0];
    for (const teamId of teamIds) {
      const ctx = operatorCtx(deps, teamId);
      if (choice) settled += await settleAll(ctx, choice);
      held += (await getHeldEmail(ctx))?.deliveries ?? 0;
    }
    const many = held > heldCountMax ? `more than ${heldCountMax} deliveries` : countOf(held);
    const rest = held === 0 ? "No email is held." : `${many} ${held === 1 ? "is" : "are"} held.`;
    if (!choice) {
      const advice = `Use --all, --accepted-after, --accepted-before, --scheduled-after or --none; see ${cli} release --help`;
      return { json: { held }, text: [rest], notes: held === 0 ? [] : [advice] };
    }
    const verb = choice.to === "release" ? "released" : "canceled";
    const done = `${verb === "released" ? "Released" : "Canceled"} ${countOf(settled)}.`;
    return output({ [verb]: settled, held }, `${done} ${rest}`);
  },
});

/** A number of deliveries as text. */
export const countOf = (deliveries: number): string =>
  `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}`;

type Period = Pick<HeldChoice, "acceptedAfter" | "acceptedBefore" | "scheduledAfter">;

/** Exactly one of: all, a period, none. Null if no option was used: then nothing changes. */
function readChoice(all: boolean, none: boolean, period: Period): HeldChoice | null {
  const hasPeriod = Object.values(period).some((time) => time !== null);
  const chosen = [all, none, hasPeriod].filter(Boolean).length;
  if (chosen > 1)
    throw new OperatorError(
      "Use one of --all, --none, or times (--accepted-after, --accepted-before, --scheduled-after).",
    );
  if (chosen === 0) return null;
  return { to: none ? "cancel" : "release", ...period };
}

async function settleAll(ctx: Ctx, choice: HeldChoice): Promise<number> {
  let sum = 0;
  for (let after: string | null = null; ; ) {
    const { settled, next }: Awaited<ReturnType<typeof settleHeld>> = await settleHeld(ctx, choice, after);
    sum += settled;
    if (next === null) return sum;
    after = next;
  }
}
