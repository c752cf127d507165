import { alertWebhookSecret } from "#server/services/alerts/installation-webhook";
import { type Alert, getThresholds, listAlerts } from "#server/services/alerts/read";
import { type WithIsoTimes, withIsoTimes } from "#server/shared/wire/shapes";
import { asOperator, inTeam, NoInput, router } from "../init";

export type AlertRow = WithIsoTimes<Alert>;

export const alertsRouter = router({
  /** The alerts of the installation and of all teams, and the limits behind them. */
  list: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => {
    const [open, resolved] = await Promise.all([
      listAlerts(operator, { state: "open" }),
      listAlerts(operator, { state: "resolved" }),
    ]);
    const { alertWebhookUrl: webhookUrl } = operator.policy;
    return {
      open: withIsoTimes(open),
      resolved: withIsoTimes(resolved),
      thresholds: getThresholds(operator),
      /** The host of the operator's webhook: its path can contain a token. Null without one. */
      webhookHost: webhookUrl === null ? null : new URL(webhookUrl).host,
    };
  }),
  /** The secret that signs the requests to the operator's webhook. */
  webhookSecret: asOperator
    .input(NoInput)
    .query(({ ctx: { operator } }) => ({ secret: alertWebhookSecret(operator) })),
  /**
   * The open alerts of a team. Operators also get those of the installation, such as a disk that is nearly
   * full.
   */
  ofTeam: inTeam("usage:read").query(async ({ ctx: { service, signedInAs } }) => {
    const hasInstallation = signedInAs.isOperator;
    const open = await listAlerts(service, { state: "open", teamId: service.teamId, hasInstallation });
    return withIsoTimes(open);
  }),
});
