const SENDS =
  "Programs send email; the console only sends test emails of templates and retries existing emails.";
const PAGE = "Data of a console page; API responses contain the same data.";
const MANY = "The console's bulk version of a call that the API has for one object.";
const SEARCH = "The console's palette; programs page through the list.";

/** Functions of services that only the API or only the console calls directly, each with the reason. */
export const GAPS: Readonly<Record<string, string>> = {
  "domains/keys-and-relays.listKeysOfDomain": PAGE,
  "domains/keys-and-relays.listRelaysOfDomain":
    "Relays belong to the operator; a console page shows which one sends for the domain.",
  "domains/caps.readWarmUpPlan": "The days follow from `warm_up`, which the API returns.",
  "domains/read.listDomains": "All names for a selection field; the API returns pages.",
  "emails/read/source.describeAsApiCall": "Formats the API call that would send the email again.",
  "emails/accept/idempotency.findStoredResponse": "Only programs repeat requests with a key.",
  "emails/accept/send.sendBatch": SENDS,
  "emails/change/change.cancelSelected": MANY,
  "emails/read/filter-values.listFilterValues": "The options of the page's filters.",
  "emails/accept/dry-run.dryRunBatch": SENDS,
  "emails/accept/dry-run.dryRunEmail": SENDS,
  "emails/read/export.exportEmails": "A file for spreadsheets; programs page through the list.",
  "emails/read/files.linkToFile": "Programs get a link that expires; the console's URL requires a session.",
  "emails/read/files.openFileLink": "Opens such a link.",
  "emails/change/delay-causes.readDelayCauses": PAGE,
  "emails/change/retry.countRetryable": "The number that the console shows before a bulk retry.",
  "emails/change/retry.retrySelected": MANY,
  "emails/accept/send.sendEmail": SENDS,
  "emails/send-again.sendAgain": "Programs have the content and send it with `POST /api/emails`.",
  "emails/send-again.findSendAgainFault": "Whether the page offers it.",
  "emails/send-again.findSuppressedRecipients": "Programs use `dry_run`.",
  "emails/read/read.countSuppressed": "A note in the list; the API returns the status of each recipient.",
  "emails/read/source.readSource": "A file for email clients; the API returns its parts.",
  "keys/use.readGauges": "Programs read their own window from the `X-RateLimit-*` headers.",
  "keys/read.listKeys": "Names for a selection field; the API and the console list keys in pages.",
  "keys/links.listLinkable": "The options of a form.",
  "keys/read.findKeysByName": SEARCH,
  "webhooks/endpoints.findWebhooksByUrl": SEARCH,
  "keys/read.nameKeys": "Names of keys for display; the API returns their ids.",
  "keys/read.getKey": "The page of one key; the API returns the same in its list.",
  "keys/read.listRotation": PAGE,
  "keys/use.countUse": PAGE,
  "keys/use.listRejections": "The log that the API returns with `logs:read`, for one key.",
  "suppressions/suppress.addSuppressions": "The console uses `addPastedSuppressions`, which calls it.",
  "suppressions/transfer.addPastedSuppressions": "Parses pasted text.",
  "suppressions/read.getSuppression": "The console's list contains all data of an address.",
  "suppressions/suppress.removeSuppression": "The console removes one with the bulk call.",
  "suppressions/search.readSources": "The email that suppressed an address, as a link.",
  "suppressions/search.searchSuppressions":
    "The console searches by part of the address; the API requires the complete one.",
  "suppressions/suppress.unsubscribe": "For recipients, with the link in their email.",
  "templates/preview.previewDraft": "Unsaved content of the editor; the API previews saved content.",
  "templates/read.readTemplateUse": PAGE,
  "templates/preview.previewTemplate": "The console previews unsaved content.",
  "emails/test-email.sendPlainTest": "For a user without a program. Programs send with `POST /api/emails`.",
  "templates/versions.findPublications": "Addresses of members, which API keys do not read.",
  "templates/test-email.sendTestEmail": "Programs send a template with `POST /api/emails` and `template`.",
  "webhooks/endpoints.readSigningSecrets":
    "The console shows a secret once, on creation; a key with the permission can read it again.",
  "webhooks/events/unknown-emails.readUnknownEmails":
    "The number of held emails; the API lists them by status.",
  "webhooks/events/email-deliveries.listEmailEventDeliveries": PAGE,
  "webhooks/events/events.countReplayRange": "The number that the console shows before a replay of a range.",
  "webhooks/events/event-emails.readEventEmails": PAGE,
  "webhooks/events/retry-pending.retryPendingEvents":
    "An action on the page of an endpoint. Over REST a replay of a range includes its pending events.",
  "webhooks/endpoint-state.readEndpointStates": PAGE,
};
