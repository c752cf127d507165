import { keyRoutes } from "./api-keys";
import { domainRoutes } from "./domains";
import { attachmentRoutes } from "./emails/attachments";
import { emailChangeRoutes } from "./emails/changes";
import { emailRoutes } from "./emails/emails";
import { emailMetricsRoutes } from "./emails/metrics";
import { eventRoutes } from "./events";
import { healthRoutes } from "./health";
import { callbackRoutes } from "./inbound/callbacks";
import { returnRoutes } from "./inbound/reports";
import { trackingRoutes } from "./links/tracking";
import { trackingHostRoutes } from "./links/tracking-hosts";
import { unsubscribeRoutes } from "./links/unsubscribe";
import { logRoutes } from "./logs";
import { referenceOf } from "./openapi/document";
import { metricsRoutes } from "./operator/metrics";
import { tickRoutes } from "./operator/tick";
import type { Route } from "./pipeline/route";
import { suppressionRoutes } from "./suppressions";
import { templateRoutes } from "./templates";
import { usageRoutes } from "./usage";
import { webhookRoutes } from "./webhooks";

/**
 * All REST routes. `dispatch` serves exactly this list, and `tests/rest/every-route.test.ts` tests each
 * entry. Add a new file of routes here.
 */
export const routes: readonly Route[] = [
  ...emailRoutes,
  ...emailMetricsRoutes,
  ...emailChangeRoutes,
  ...attachmentRoutes,
  ...templateRoutes,
  ...domainRoutes,
  ...keyRoutes,
  ...webhookRoutes,
  ...suppressionRoutes,
  ...eventRoutes,
  ...usageRoutes,
  ...logRoutes,
  ...unsubscribeRoutes,
  ...trackingRoutes,
  ...healthRoutes,
  ...trackingHostRoutes,
  ...returnRoutes,
  ...callbackRoutes,
  ...tickRoutes,
  ...metricsRoutes,
  referenceOf(() => routes),
];
