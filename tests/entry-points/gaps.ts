const SENDS =
  "Mail is sent by programs; the console sends only tests of templates, and a mail as it was by retrying it.";
const PAGE = "It fills a page of the console; the API tells the same by what its answers hold.";
const MANY = "The console's form of a call that the API takes one by one.";

/** Functions of services that only the API or only the console calls directly, each with the reason. */
export const GAPS: Readonly<Record<string, string>> = {
  "domains/keys-and-relays.listKeysOfDomain": PAGE,
  "domains/keys-and-relays.listRelaysOfDomain":
    "Relays are the operator's; a page says which one carries the domain.",
  "domains/caps.readWarmUpPlan": "The days follow from `warm_up`, which the API tells.",
  "domains/read.listDomains": "All names at once, to choose among; the API lists them by pages.",
  "emails/read/api-call.describeAsApiCall": "Writes the call of the API that would send the mail again.",
  "emails/accept/batch.sendBatch": SENDS,
  "emails/change/change.cancelSelected": MANY,
  "emails/read/filter-values.listFilterValues": "What the filters of the page offer.",
  "emails/accept/dry-run.dryRunBatch": SENDS,
  "emails/accept/dry-run.dryRunEmail": SENDS,
  "emails/read/export.exportEmails": "A file for spreadsheets; programs page through the list.",
  "emails/read/files.linkToFile":
    "Programs are given a link that expires; the console's own address asks for the session.",
  "emails/read/files.openFileLink": "Opens such a link.",
  "emails/change/delay-causes.readDelayCauses": PAGE,
  "emails/change/retry.countRetryable": "What a person is told before many are retried.",
  "emails/change/retry.retrySelected": MANY,
  "emails/accept/send.sendEmail": SENDS,
  "emails/read/source.readSource": "A file for mail programs; the API gives the parts that it is made of.",
  "keys/use.readGauges": "A program reads its own window off the `X-RateLimit-*` headers.",
  "keys/read.listKeys": "Names to choose among; both entryPoints list keys by pages.",
  "keys/links.listLinkable": "What a form offers to choose.",
  "keys/read.nameKeys": "Names of keys for people; the API tells their ids.",
  "keys/read.getKey": "The page of one key; the API tells as much of each key in its list.",
  "keys/read.listRotation": PAGE,
  "keys/use.countUse": PAGE,
  "keys/use.listRejections": "The same log that the API opens by `logs:read`, for one key.",
  "suppressions/suppress.addSuppressions":
    "The console adds what was pasted, by `addPastedSuppressions`, which calls it.",
  "suppressions/transfer.addPastedSuppressions": "Reads addresses out of what a person pastes.",
  "suppressions/read.getSuppression": "The console's list holds all that is known of an address.",
  "suppressions/remove.removeSuppression": "The console removes one as it removes many.",
  "suppressions/search.readSources": "Which mail an address is suppressed by, for people to open.",
  "suppressions/search.searchSuppressions":
    "The console searches by a part of the address; the API knows the whole.",
  "suppressions/suppress.unsubscribe": "For recipients, by the link in their mail.",
  "templates/preview.previewDraft":
    "What is written in the editor and not saved yet; the API previews what is saved.",
  "templates/use.readTemplateUse": PAGE,
  "templates/preview.previewTemplate": "The console previews what is not saved yet.",
  "templates/test-email.sendTestEmail": "Programs send a template by `POST /api/emails` with `template`.",
  "webhooks/endpoints.readSigningSecrets":
    "A secret is shown to people once, when it is made; a key with the right may read it again.",
  "webhooks/events/unknown-emails.readUnknownEmails":
    "How many held mails wait; the API lists them by their status.",
  "webhooks/events/email-deliveries.listEmailEventDeliveries": PAGE,
  "webhooks/events/replay.countReplayRange": "What a person is told before a range is replayed.",
  "webhooks/endpoint-state.readEndpointStates": PAGE,
};
