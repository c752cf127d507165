import type { Command } from "commander";
import {
  type DestinationLimit,
  listDestinationLimits,
  setDestinationLimit,
  unsetDestinationLimit,
} from "#server/services/destinations/limits";
import { OperatorError } from "../launcher/operator-error";
import { addJsonOption, readDestinationLimit, readDomain } from "./arguments";
import { withDatabase } from "./session";
import { formatTime, printJson, printLine, printTable } from "./terminal";

type Options = { json?: true };
type SetOptions = Options & { connections?: number | "none"; perMinute?: number | "none" };

/** `destination set`, `destination list`, `destination unset`. */
export function addDestinationCommands(program: Command): void {
  const destination = program
    .command("destination")
    .description("rate and concurrency limits for direct delivery to recipients' domains");

  addJsonOption(
    destination
      .command("set")
      .description("sets the limits of a destination, shared by all teams and workers")
      .argument("<domain>", "the recipients' domain, such as gmail.com", readDomain)
      .option(
        "--connections <number>",
        "maximum concurrent connections, or none for no limit",
        readDestinationLimit,
      )
      .option(
        "--per-minute <number>",
        "maximum emails per minute, or none for no limit",
        readDestinationLimit,
      ),
  )
    .addHelpText("after", SET_HELP)
    .action(async (domain: string, { connections, perMinute, json }: SetOptions) => {
      if (connections === undefined && perMinute === undefined)
        throw new OperatorError("Use --connections, --per-minute, or both.");
      await withDatabase(async ({ deps }) => {
        const limit = await setDestinationLimit(deps, domain, {
          ...(connections !== undefined && { connectionsMax: numberOf(connections) }),
          ...(perMinute !== undefined && { perMinute: numberOf(perMinute) }),
        });
        if (json) return printJson(present(limit));
        printLine(`Limits of ${domain}: ${formatLimit(limit)}. Workers apply them from their next claim.`);
      });
    });

  addJsonOption(destination.command("list").description("lists the destinations that have limits")).action(
    async ({ json }: Options) => {
      await withDatabase(async ({ deps }) => {
        const limits = await listDestinationLimits(deps);
        if (json) return printJson({ data: limits.map(present) });
        printTable(
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
      .description("removes the limits of a destination")
      .argument("<domain>", "the recipients' domain", readDomain),
  ).action(async (domain: string, { json }: Options) => {
    await withDatabase(async ({ deps }) => {
      await unsetDestinationLimit(deps, domain);
      if (json) return printJson({ domain, unset: true });
      printLine(`Removed the limits of ${domain}. Throttled deliveries continue within 10 minutes.`);
    });
  });
}

const SET_HELP = `
The limits apply to direct delivery to MX hosts (SMTP_URL=direct:). If a destination responds that the rate is too high,
workers reduce the rate below the limit. Running workers share the limits evenly. Throttled deliveries stay queued; the
timeline of the email shows the rule (destination_pace) and the time of the next attempt.

Examples:
  destination set example.com --connections 4 --per-minute 120
  destination set example.com --per-minute none`;

const numberOf = (given: number | "none"): number | null => (given === "none" ? null : given);

function formatLimit({ connectionsMax, perMinute }: DestinationLimit): string {
  const connections = connectionsMax === null ? [] : [`at most ${connectionsMax} concurrent connections`];
  const rate = perMinute === null ? [] : [`at most ${perMinute} emails per minute`];
  return [...connections, ...rate].join(" and ");
}

const present = ({ domain, connectionsMax, perMinute, updatedAt }: DestinationLimit) => ({
  domain,
  connections_max: connectionsMax,
  per_minute: perMinute,
  updated_at: updatedAt.toISOString(),
});
