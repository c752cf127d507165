import type { Command } from "commander";
import {
  type DestinationLimit,
  listDestinationLimits,
  setDestinationLimit,
  unsetDestinationLimit,
} from "#server/services/destinations/limits";
import { Refusal } from "../refusal";
import { addJsonOption, readDestinationLimit, readDomain } from "./arguments";
import { withDatabase } from "./session";
import { formatTime, say, sayJson, sayTable } from "./terminal";

type Options = { json?: true };
type SetOptions = Options & { connections?: number | "none"; perMinute?: number | "none" };

/** `destination set`, `destination list`, `destination unset`. */
export function addDestinationCommands(program: Command): void {
  const destination = program
    .command("destination")
    .description("what mail straight to the servers of a recipients' domain may take of them");

  addJsonOption(
    destination
      .command("set")
      .description("limits a destination, over all teams and all workers together")
      .argument("<domain>", "the recipients' domain, as in gmail.com", readDomain)
      .option(
        "--connections <number>",
        "connections at once at most, or none for no limit",
        readDestinationLimit,
      )
      .option("--per-minute <number>", "mails a minute at most, or none for no limit", readDestinationLimit),
  )
    .addHelpText("after", SET_HELP)
    .action(async (domain: string, { connections, perMinute, json }: SetOptions) => {
      if (connections === undefined && perMinute === undefined)
        throw new Refusal("Give --connections, --per-minute, or both.");
      await withDatabase(async ({ deps }) => {
        const limit = await setDestinationLimit(deps, domain, {
          ...(connections !== undefined && { connectionsMax: numberOf(connections) }),
          ...(perMinute !== undefined && { perMinute: numberOf(perMinute) }),
        });
        if (json) return sayJson(present(limit));
        say(`${domain} is given ${sayLimit(limit)}. Workers heed it with what they claim next.`);
      });
    });

  addJsonOption(destination.command("list").description("lists the destinations that have a limit")).action(
    async ({ json }: Options) => {
      await withDatabase(async ({ deps }) => {
        const limits = await listDestinationLimits(deps);
        if (json) return sayJson({ data: limits.map(present) });
        sayTable(
          ["DESTINATION", "CONNECTIONS", "PER MINUTE", "SET"],
          limits.map((limit) => [
            limit.domain,
            String(limit.connectionsMax ?? "none"),
            String(limit.perMinute ?? "none"),
            formatTime(limit.updatedAt),
          ]),
        );
      });
    },
  );

  addJsonOption(
    destination
      .command("unset")
      .description("takes the limits of a destination away")
      .argument("<domain>", "the recipients' domain", readDomain),
  ).action(async (domain: string, { json }: Options) => {
    await withDatabase(async ({ deps }) => {
      await unsetDestinationLimit(deps, domain);
      if (json) return sayJson({ domain, unset: true });
      say(`${domain} has no limit any more. What waits for it comes in its turn, within ten minutes.`);
    });
  });
}

const SET_HELP = `
It holds where mail goes straight to the recipients' servers (SMTP_URL=direct:), beside what their own answers teach: a
destination that says it is too much is given less than the limit, never more. Living workers share it evenly. What has to
wait waits in the queue, and its timeline says by which rule (destination_pace) and until when.

Examples:
  destination set example.com --connections 4 --per-minute 120
  destination set example.com --per-minute none`;

const numberOf = (given: number | "none"): number | null => (given === "none" ? null : given);

function sayLimit({ connectionsMax, perMinute }: DestinationLimit): string {
  const connections = connectionsMax === null ? [] : [`at most ${connectionsMax} connections at once`];
  const rate = perMinute === null ? [] : [`at most ${perMinute} mails a minute`];
  return [...connections, ...rate].join(" and ");
}

const present = ({ domain, connectionsMax, perMinute, updatedAt }: DestinationLimit) => ({
  domain,
  connections_max: connectionsMax,
  per_minute: perMinute,
  updated_at: updatedAt.toISOString(),
});
