import { cli } from "#server/platform/env/cli";
import { holdQueue } from "#server/services/restores/hold-queue";
import { OperatorError } from "../../../launcher/operator-error";
import { type AdminCommand, examples, runInDatabase } from "../../command";
import type { Session } from "../../session";
import type { Output } from "../../terminal";

/** `hold`: for a database that was copied or restored by other means than `restore`. */
export function addHoldCommand(program: AdminCommand): void {
  const hold = program
    .command("hold")
    .description("holds all queued email of a copied or otherwise restored database, before a worker starts")
    .option("--confirm", "confirms that this database is the copy, and that its original is no longer used")
    .option("--json", "print the result as one JSON document")
    .addHelpText(...examples("hold --confirm"));
  runInDatabase(hold, run, { isUnchanged: true });
}

async function run({ deps }: Session, { confirm }: { confirm?: true }): Promise<Output> {
  if (!confirm)
    throw new OperatorError(
      "This holds all queued email, ends all sessions and lets pending invitations expire, as a restore does. Add --confirm.",
    );
  const { held, unknown } = await holdQueue(deps);
  return {
    json: { held, unknown },
    text: [
      `${held} ${held === 1 ? "delivery is" : "deliveries are"} held. They may have been sent after the copy was made.`,
      `${unknown} ${unknown === 1 ? "delivery has an" : "deliveries have an"} unknown outcome.`,
    ],
    notes: [`Start Backstamp, then decide on the overview of the console or by: ${cli} release`],
  };
}
