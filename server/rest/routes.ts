import {
  deleteKeyDomain,
  deleteOneKey,
  getKeys,
  patchKey,
  postKey,
  postKeyRotate,
  putKeyDomain,
} from "./api-keys";
import { getAttachmentByLink, getAttachments, getOneAttachment } from "./attachments";
import { postRelayCallback } from "./callbacks";
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
import { patchEmail, postBatch, postEmailCancel, postEmailRetry, postEmailsRetry } from "./email-changes";
import { postEmailSettle } from "./email-settle";
import { getEmails, getOneEmail, postEmail } from "./emails";
import { getEvents } from "./events";
import { getHealth, getReadiness } from "./health";
import { postInboundMessage } from "./inbound";
import { getLogs, getOneLog } from "./logs";
import { referenceOf } from "./reference";
import type { Route } from "./route";
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
  getTemplateVersion,
  getTemplateVersions,
  postTemplateDuplicate,
  postTemplatePreview,
  postTemplateVersionPublish,
} from "./template-versions";
import {
  deleteOneTemplate,
  getOneTemplate,
  getTemplates,
  patchTemplate,
  postTemplate,
  postTemplatePublish,
} from "./templates";
import { getClick, getOpen } from "./tracking";
import { getUnsubscribe, postUnsubscribe } from "./unsubscribe";
import { getUsage } from "./usage";
import {
  getOneWebhookEvent,
  getWebhookAttempts,
  getWebhookEvents,
  postWebhookEventReplay,
  postWebhookReplay,
  postWebhookTest,
} from "./webhook-events";
import {
  deleteOneWebhook,
  getOneWebhook,
  getWebhooks,
  patchWebhook,
  postWebhook,
  postWebhookRotation,
} from "./webhooks";

/**
 * Every REST route there is. `dispatch` answers by this list, and the suite over every route runs through it: a route
 * joins by standing here.
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
