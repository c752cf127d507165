import { memberships, type Role, users } from "#db/schema/teams";
import { createRouting } from "#server/delivery/routing/routes";
import { createSystemEmailSender } from "#server/delivery/system-mail/deliver";
import { tick } from "#server/delivery/tick";
import { runWebhookRound } from "#server/delivery/webhooks/round";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import type { DepsOptions } from "./deps";
import { transportTo } from "./relays";
import { type SmtpScript, type SmtpTestServer, startSmtpTestServer } from "./servers/smtp-test-server";
import { createWorld, type TestTeam, type World } from "./world";

/**
 * A Backstamp with an owner of its first team, Ann, an operator, Olga, and a relay that receives the alert
 * emails.
 */
export type AlertWorld = World & {
  relay: SmtpTestServer;
  /**
   * Evaluates the alerts, and sends their emails and webhook events. `changes` replace dependencies.
   */
  round(changes?: Partial<WorkerDeps>): Promise<void>;
  /** A whole round of delivery, as a worker makes it. */
  deliver(): Promise<void>;
  /** The subjects of the alert emails since the last call, by recipient, and their texts. */
  received(): { to: string; subject: string; text: string }[];
  person(email: string, given: { role?: Role; team?: TestTeam; isOperator?: boolean }): Promise<string>;
  /** Records results of the current hour; recipients who complained are among the delivered ones. */
  results(counts: {
    delivered?: number;
    bounced?: number;
    complained?: number;
    domain?: string;
  }): Promise<void>;
};

const roundMs = 60_000;

export async function createAlertWorld(
  options: DepsOptions = {},
  script: SmtpScript = {},
): Promise<AlertWorld> {
  const world = await createWorld({ transportKind: "relay", ...options });
  const relay = await startSmtpTestServer(script);
  const transport = transportTo(relay);
  let read = 0;
  const alertWorld: AlertWorld = {
    ...world,
    relay,
    async round(changes = {}) {
      const deps = { ...world.withTransport(transport), ...changes };
      await evaluateAlerts(deps);
      const routing = createRouting(deps);
      const sender = createSystemEmailSender(deps, routing);
      for (let hasMore = true; hasMore; ) {
        hasMore = await sender.pump();
        await sender.idle(roundMs);
      }
      await sender.drain(roundMs);
      await routing.close();
      await runWebhookRound(deps, { leftMs: () => roundMs, mayHaveMore: () => false });
    },
    deliver: () => tick(world.withTransport(transport), { budgetMs: roundMs }),
    received() {
      const fresh = relay.messages.slice(read).filter(({ from }) => from.startsWith("backstamp@"));
      read = relay.messages.length;
      return fresh.map(({ to, bytes }) => {
        const raw = bytes.toString().replaceAll("=\r\n", "").replaceAll("=3D", "=");
        const subject = /^Subject: ((?:.*\r\n[ \t])*.*)\r\n/m.exec(raw)?.[1] ?? "";
        return { to: to.join(), subject: subject.replaceAll(/\r\n[ \t]/g, " "), text: raw };
      });
    },
    async person(email, { role, team = world, isOperator = false }) {
      const id = newId();
      await world.deps.db.insert(users).values({ id, email, isOperator });
      if (role) await world.deps.db.insert(memberships).values({ teamId: team.id, userId: id, role });
      return id;
    },
    async results({ delivered = 0, bounced = 0, complained = 0, domain = "example.org" }) {
      await world.hot`
        insert into recipient_totals as c (team_id, dimension, unit, starts_at, value, received, sent, delivered,
          bounced_permanent, bounced_transient, bounced_undetermined, complained, failed, unknown, suppressed, canceled,
          delayed, opens, clicks, openers, clickers, opens_tracked, clicks_tracked, unsubscribed)
        values (${world.id}, 'result', 'hour', date_trunc('hour', now(), 'UTC'), ${domain}, 0, 0,
          ${delivered - complained}, ${bounced}, 0, 0, ${complained}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        on conflict (team_id, dimension, unit, starts_at, value) do update set
          delivered = c.delivered + excluded.delivered, complained = c.complained + excluded.complained,
          bounced_permanent = c.bounced_permanent + excluded.bounced_permanent`;
    },
    async close() {
      await transport.close();
      await relay.close();
      await world.close();
    },
  };
  await alertWorld.person("ann@example.net", { role: "owner" });
  await alertWorld.person("olga@example.net", { isOperator: true });
  return alertWorld;
}
