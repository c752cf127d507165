import {
  deleteKeyDomain,
  deleteOneKey,
  getKeys,
  patchKey,
  postKey,
  postKeyRotate,
  putKeyDomain,
} from "./api-keys";
import { getTick, postTick } from "./cron";
import {
  deleteOneDomain,
  getDomains,
  getOneDomain,
  patchDomain,
  postDomain,
  postDomainKeyRotation,
  postDomainVerify,
} from "./domains";
import { getAttachmentByLink, getAttachments, getOneAttachment } from "./emails/attachments";
import {
  patchEmail,
  postBatch,
  postEmailCancel,
  postEmailRetry,
  postEmailSettle,
  postEmailsRetry,
} from "./emails/changes";
import { getEmails, getOneEmail, postEmail } from "./emails/emails";
import { getEvents } from "./events";
import { getHealth, getReadiness } from "./health";
import { postRelayCallback } from "./inbound/callbacks";
import { postInboundMessage } from "./inbound/reports";
import { getClick, getOpen } from "./links/tracking";
import { getUnsubscribe, postUnsubscribe } from "./links/unsubscribe";
import { getLogs, getOneLog } from "./logs";
import { referenceOf } from "./openapi/reference";
import type { Route } from "./pipeline/route";
import {
  deleteOneSuppression,
  getOneSuppression,
  getSuppressions,
  getSuppressionsCsv,
  postSuppression,
  postSuppressionsAdd,
  postSuppressionsCsv,
  postSuppressionsRemove,
} from "./suppressions";
import {
  deleteOneTemplate,
  getOneTemplate,
  getTemplates,
  patchTemplate,
  postTemplate,
  postTemplatePublish,
} from "./templates/templates";
import {
  getTemplateVersion,
  getTemplateVersions,
  postTemplateDuplicate,
  postTemplatePreview,
  postTemplateVersionPublish,
} from "./templates/versions";
import { getUsage } from "./usage";
import {
  getOneWebhookEvent,
  getWebhookAttempts,
  getWebhookEvents,
  postWebhookEventReplay,
  postWebhookReplay,
  postWebhookTest,
} from "./webhooks/events";
import {
  deleteOneWebhook,
  getOneWebhook,
  getWebhooks,
  patchWebhook,
  postWebhook,
  postWebhookRotation,
} from "./webhooks/webhooks";

/**
 * All REST routes. `dispatch` serves exactly this list, and `tests/rest/every-route.test.ts` tests each entry. Add a new
 * route here.
 */
export const routes: readonly Route[] = [
  postEmail,
  getEmails,
  getOneEmail,
  postBatch,
  patchEmail,
  postEmailCancel,
  postEmailRetry,
  postEmailSettle,
  postEmailsRetry,
  getAttachments,
  getOneAttachment,
  postTemplate,
  getTemplates,
  getOneTemplate,
  patchTemplate,
  deleteOneTemplate,
  postTemplatePublish,
  postTemplateDuplicate,
  postTemplatePreview,
  getTemplateVersions,
  getTemplateVersion,
  postTemplateVersionPublish,
  postDomain,
  getDomains,
  getOneDomain,
  patchDomain,
  deleteOneDomain,
  postDomainVerify,
  postDomainKeyRotation,
  postKey,
  getKeys,
  patchKey,
  deleteOneKey,
  postKeyRotate,
  putKeyDomain,
  deleteKeyDomain,
  postWebhook,
  getWebhooks,
  getOneWebhook,
  patchWebhook,
  deleteOneWebhook,
  postWebhookRotation,
  postWebhookTest,
  postWebhookReplay,
  getWebhookEvents,
  getOneWebhookEvent,
  getWebhookAttempts,
  postWebhookEventReplay,
  postSuppression,
  getSuppressions,
  getOneSuppression,
  deleteOneSuppression,
  postSuppressionsAdd,
  postSuppressionsRemove,
  getSuppressionsCsv,
  postSuppressionsCsv,
  getEvents,
  getUsage,
  getLogs,
  getOneLog,
  getAttachmentByLink,
  getUnsubscribe,
  postUnsubscribe,
  getOpen,
  getClick,
  getHealth,
  getReadiness,
  postInboundMessage,
  postRelayCallback,
  getTick,
  postTick,
  referenceOf(() => routes),
];
