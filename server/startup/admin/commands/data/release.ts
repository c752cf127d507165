import { InvalidArgumentError } from "commander";
import type { Ctx } from "#server/deps";
import { cli } from "#server/platform/env/cli";
import {
  type HeldChoice,
  heldCountMax,
  listTeamsWithHeld,
  readHeld,
  settleHeld,
} from "#server/services/restores/held";
import { findTeam } from "#server/services/teams";
import { OperatorError } from "../../../launcher/operator-error";
import { readExpiry } from "../../arguments";
import { type AdminCommand, examples, runInDatabase } from "../../command";
import { operatorCtx, type Session } from "../../session";
import type { Output } from "../../terminal";

type ReleaseOptions = {
  all?: true;
  none?: true;
  acceptedAfter?: Date;
  acceptedBefore?: Date;
  scheduledAfter?: Date;
  team?: string;
};

/** `release`: the decision about email that is held after a restore. */
export function addReleaseCommand(program: AdminCommand): void {
  const release = program
    .command("release")
    .description(
      "releases or cancels the email that is held because the installation was restored from a backup",
    )
    .option("--all", "sends all of it; what was sent after the backup arrives twice")
    .option(
      "--accepted-after <time>",
      "sends what was accepted at or after this time; the rest stays held",
      readTime,
    )
    .option(
      "--accepted-before <time>",
      "sends what was accepted at or before this time; the rest stays held",
      readTime,
    )
    .option(
      "--scheduled-after <time>",
      "sends what is scheduled for a later time than this; the rest stays held",
      readTime,
    )
    .option("--none", "cancels all that is still held")
    .option("--team <team>", "only this team, by id or name (default: all teams)")
    .option("--json", "print the result as one JSON document")
    .addHelpText(
      ...examples(
        "release --accepted-after 2030-01-31T12:00:00Z",
        "release --scheduled-after 2030-01-31T12:00:00Z",
        "release --none",
      ),
    );
  runInDatabase(release, settle);
}

function readTime(text: string): Date {
  const time = readExpiry(text);
  if (time instanceof Date) return time;
  throw new InvalidArgumentError("Enter a time, such as 2030-01-31T12:00:00Z.");
}

/** Exactly one of: all, a period, none. Null if no option was used: then nothing changes. */
function readChoice({ all, none, ...period }: ReleaseOptions): HeldChoice | null {
  const { acceptedAfter = null, acceptedBefore = null, scheduledAfter = null } = period;
  const isPeriod = [acceptedAfter, acceptedBefore, scheduledAfter].some((time) => time !== null);
  const chosen = [all, none, isPeriod].filter(Boolean).length;
  if (chosen > 1)
    throw new OperatorError(
      "Use one of --all, --none, or times (--accepted-after, --accepted-before, --scheduled-after).",
    );
  if (chosen === 0) return null;
  return { to: none ? "cancel" : "release", acceptedAfter, acceptedBefore, scheduledAfter };
}

async function settle({ deps }: Session, options: ReleaseOptions): Promise<Output> {
  const choice = readChoice(options);
  const teamIds =
    options.team === undefined ? await listTeamsWithHeld(deps) : [(await findTeam(deps, options.team)).id];
  let settled = 0;
  let held = 0;
  for (const teamId of teamIds) {
    const ctx = operatorCtx(deps, teamId);
    if (choice) settled += await settleAll(ctx, choice);
    held += (await readHeld(ctx))?.deliveries ?? 0;
  }
  const remaining = held > heldCountMax ? `more than ${heldCountMax}` : String(held);
  const rest =
    held === 0 ? "No email is held." : `${remaining} ${held === 1 ? "delivery is" : "deliveries are"} held.`;
  if (!choice)
    return {
      json: { held },
      text: [rest],
      notes:
        held === 0
          ? []
          : [
              `Use --all, --accepted-after, --accepted-before, --scheduled-after or --none; see ${cli} release --help`,
            ],
    };
  const verb = choice.to === "release" ? "Released" : "Canceled";
  return {
    json: { [choice.to === "release" ? "released" : "canceled"]: settled, held },
    text: [`${verb} ${settled} ${settled === 1 ? "delivery" : "deliveries"}. ${rest}`],
  };
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
