import {
  type DestinationLimit,
  listDestinationLimits,
  setDestinationLimit,
  unsetDestinationLimit,
} from "#server/services/destinations/limits";
import { orNull, readDestinationLimit, readDomain } from "../arguments";
import { type AdminCommand, requireOption, runInDatabase } from "../command";
import { listOutput } from "../terminal";

type SetOptions = { connections?: number | "none"; perMinute?: number | "none" };

/** `destination set`, `destination list`, `destination unset`. */
export function addDestinationCommands(program: AdminCommand): void {
  const destination = program
    .command("destination")
    .description("rate and concurrency limits for direct delivery to recipients' domains");

  const set = destination
    .command("set")
    .description("sets the limits of a destination, shared by all teams and workers")
    .argument("<domain>", "the recipients' domain, such as gmail.com", readDomain)
    .option(
      "--connections <number>",
      "maximum concurrent connections, or none for no limit",
      readDestinationLimit,
    )
    .option("--per-minute <number>", "maximum emails per minute, or none for no limit", readDestinationLimit)
    .addHelpText("after", SET_HELP)
    .hook("preAction", requireOption("--connections", "--per-minute"));
  runInDatabase(set, async ({ deps }, domain: string, { connections, perMinute }: SetOptions) => {
    const limit = present(
      await setDestinationLimit(deps, domain, {
        ...(connections !== undefined && { connectionsMax: orNull(connections) }),
        ...(perMinute !== undefined && { perMinute: orNull(perMinute) }),
      }),
    );
    return { json: limit, text: [limit, "Workers apply these limits from their next claim."] };
  });

  const list = destination.command("list").description("lists the destinations that have limits");
  runInDatabase(list, async ({ deps }) =>
    listOutput(
      (await listDestinationLimits(deps)).map(present),
      ({ domain, connections_max, per_minute, updated_at }) => ({
        domain,
        connections: connections_max ?? "none",
        per_minute: per_minute ?? "none",
        updated_at,
      }),
      "No destination has limits.",
    ),
  );

  const unset = destination
    .command("unset")
    .description("removes the limits of a destination")
    .argument("<domain>", "the recipients' domain", readDomain);
  runInDatabase(unset, async ({ deps }, domain: string) => {
    await unsetDestinationLimit(deps, domain);
    return {
      json: { domain, unset: true },
      text: [`Removed the limits of ${domain}. Throttled deliveries continue within 10 minutes.`],
    };
  });
}

const SET_HELP = `
The limits apply to direct delivery to MX hosts (SMTP_URL=direct:). If a destination responds that the rate is too high,
workers reduce the rate below the limit. Running workers share the limits evenly. Throttled deliveries stay queued; the
timeline of the email shows the rule (destination_throttled) and the time of the next attempt.

Examples:
  destination set example.com --connections 4 --per-minute 120
  destination set example.com --per-minute none`;

const present = ({ domain, connectionsMax, perMinute, updatedAt }: DestinationLimit) => ({
  domain,
  connections_max: connectionsMax,
  per_minute: perMinute,
  updated_at: updatedAt.toISOString(),
});
