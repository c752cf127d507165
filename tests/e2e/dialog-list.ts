import type { TestData } from "./pages";

/** A click: a button by its name, an item of the open menu, or a row or checkbox of a table. */
type Click = string | RegExp | { item: string } | { row: RegExp } | { check: RegExp };

export type OpenedDialog = {
  /** Its file below `app/console`, without `.tsx`. A test fails if a dialog of a file is missing here. */
  file: string;
  path: (data: DialogData) => string;
  clicks: readonly Click[];
  /** It opens in its first field. */
  isForm?: true;
};

/** Objects in the states in which their dialogs can be opened. */
export type DialogData = TestData & { scheduled: string; bounced: string; boundKey: string };

const page = (path: string) => () => path;
const settings = "/console/settings";
const installation = "/console/installation";

/** Every dialog that a page offers. */
export const DIALOGS: Record<string, OpenedDialog> = {
  "send a test email": {
    file: "overview/setup/send-test",
    path: page("/console"),
    clicks: [/^Send (a test email|another)$/],
    isForm: true,
  },
  "a change": { file: "activity/change-detail", path: page("/console/activity"), clicks: [{ row: /./ }] },
  "a request": {
    file: "activity/requests/request-detail",
    path: page("/console/activity/requests"),
    clicks: [{ row: /./ }],
  },
  "copy as curl": {
    file: "emails/[id]/dialogs",
    path: ({ email }) => `/console/emails/${email}`,
    clicks: ["More actions", { item: "Copy as curl…" }],
  },
  "retry an email": {
    file: "emails/[id]/dialogs",
    path: ({ bounced }) => `/console/emails/${bounced}`,
    clicks: ["Retry…"],
  },
  "reschedule an email": {
    file: "emails/[id]/dialogs",
    path: ({ scheduled }) => `/console/emails/${scheduled}`,
    clicks: ["Reschedule…"],
    isForm: true,
  },
  "cancel an email": {
    file: "emails/[id]/dialogs",
    path: ({ scheduled }) => `/console/emails/${scheduled}`,
    clicks: ["Cancel…"],
  },
  "retry selected emails": {
    file: "emails/bulk-actions",
    path: page("/console/emails?status=bounced"),
    clicks: [{ check: /^Select/ }, "Retry…"],
  },
  "cancel selected emails": {
    file: "emails/bulk-actions",
    path: page("/console/emails?status=scheduled"),
    clicks: [{ check: /^Select/ }, "Cancel…"],
  },
  "retry matching emails": {
    file: "emails/bulk-actions",
    path: page("/console/emails?status=bounced"),
    clicks: ["Retry emails…"],
  },
  "add a domain": {
    file: "domains/add-domain",
    path: page("/console/domains"),
    clicks: ["Add domain"],
    isForm: true,
  },
  "remove a domain": {
    file: "domains/remove-domain",
    path: ({ domain }) => `/console/domains/${domain}`,
    clicks: [/^More actions for/, { item: "Remove domain…" }],
  },
  "the daily cap": {
    file: "domains/[id]/limits-form",
    path: ({ domain }) => `/console/domains/${domain}`,
    clicks: ["Change…"],
    isForm: true,
  },
  "rotate DKIM keys": {
    file: "domains/[id]/keys-card",
    path: ({ domain }) => `/console/domains/${domain}`,
    clicks: ["Rotate keys…"],
  },
  "create a key, which loads its form late": {
    file: "keys/create-key",
    path: page("/console/keys"),
    clicks: ["Create key"],
    isForm: true,
  },
  "rename a key": {
    file: "keys/[id]/dialogs",
    path: ({ key }) => `/console/keys/${key}`,
    clicks: ["Rename…"],
    isForm: true,
  },
  "client networks": {
    file: "keys/[id]/dialogs",
    path: ({ key }) => `/console/keys/${key}`,
    clicks: ["Restrict networks…"],
    isForm: true,
  },
  "rotate a key": {
    file: "keys/[id]/dialogs",
    path: ({ key }) => `/console/keys/${key}`,
    clicks: ["Rotate…"],
    isForm: true,
  },
  "revoke a key": {
    file: "keys/[id]/dialogs",
    path: ({ key }) => `/console/keys/${key}`,
    clicks: ["Revoke…"],
  },
  "remove a domain from a key": {
    file: "keys/[id]/key-domains",
    path: ({ boundKey }) => `/console/keys/${boundKey}`,
    clicks: [/^Remove mail\.example\.com/],
  },
  "add a webhook": {
    file: "webhooks/endpoint-form",
    path: page("/console/webhooks"),
    clicks: ["Add webhook"],
    isForm: true,
  },
  "edit a webhook": {
    file: "webhooks/endpoint-form",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: ["More actions", { item: "Edit…" }],
    isForm: true,
  },
  "replay a range": {
    file: "webhooks/[id]/replay-range",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: ["More actions", { item: "Replay events…" }],
    isForm: true,
  },
  "send a test event": {
    file: "webhooks/[id]/test-event",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: [/^Send test event/],
    isForm: true,
  },
  "disable a webhook": {
    file: "webhooks/[id]/confirmations",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: ["Disable…"],
  },
  "rotate a signing secret": {
    file: "webhooks/[id]/confirmations",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: ["More actions", { item: "Rotate secret…" }],
  },
  "delete a webhook": {
    file: "webhooks/[id]/confirmations",
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
    clicks: ["More actions", { item: "Delete…" }],
  },
  "suppress addresses": {
    file: "suppressions/add-suppressions",
    path: page("/console/suppressions"),
    clicks: ["Suppress addresses"],
    isForm: true,
  },
  "import suppressions": {
    file: "suppressions/import-suppressions",
    path: page("/console/suppressions"),
    clicks: ["More actions", { item: "Import CSV…" }],
    isForm: true,
  },
  "remove a suppression": {
    file: "suppressions/suppression-list",
    path: page("/console/suppressions"),
    clicks: ["Remove from list: gone@example.net"],
  },
  "create a template": {
    file: "templates/create-template",
    path: page("/console/templates"),
    clicks: ["Create template"],
    isForm: true,
  },
  "delete a template": {
    file: "templates/delete-template",
    path: ({ template }) => `/console/templates/${template}`,
    clicks: ["More actions", { item: "Delete…" }],
  },
  "name a template": {
    file: "templates/[id]/dialogs",
    path: ({ template }) => `/console/templates/${template}`,
    clicks: ["More actions", { item: "Name and alias…" }],
    isForm: true,
  },
  "test a template": {
    file: "templates/[id]/dialogs",
    path: ({ template }) => `/console/templates/${template}`,
    clicks: ["Send test…"],
    isForm: true,
  },
  "publish a template": {
    file: "templates/[id]/dialogs",
    path: ({ template }) => `/console/templates/${template}`,
    clicks: ["Publish…"],
  },
  "send a template with the API": {
    file: "templates/[id]/api-call-dialog",
    path: ({ template }) => `/console/templates/${template}`,
    clicks: ["More actions", { item: "Send with the API…" }],
  },
  "publish a version": {
    file: "templates/[id]/versions/roll-back",
    path: ({ template }) => `/console/templates/${template}/versions`,
    clicks: [/^Publish version \d+…$/],
  },
  "invite a member": {
    file: "settings/members/dialogs",
    path: page(`${settings}/members`),
    clicks: [/^Invite/],
    isForm: true,
  },
  "the role of a member": {
    file: "settings/members/dialogs",
    path: page(`${settings}/members`),
    clicks: ["Actions for ben@backstamp.test", { item: "Change role…" }],
    isForm: true,
  },
  "remove a member": {
    file: "settings/members/dialogs",
    path: page(`${settings}/members`),
    clicks: ["Actions for ben@backstamp.test", { item: "Remove from team…" }],
  },
  "leave a team": {
    file: "settings/members/dialogs",
    path: page(`${settings}/members`),
    clicks: ["Actions for admin@backstamp.test", { item: "Leave team…" }],
  },
  "change the password": {
    file: "settings/security/change-password",
    path: page(`${settings}/security`),
    clicks: [/^Change/],
    isForm: true,
  },
  "set up an authenticator app": {
    file: "settings/security/two-factor-dialogs",
    path: page(`${settings}/security`),
    clicks: ["Set up"],
    isForm: true,
  },
  "add a passkey": {
    file: "settings/security/passkey-dialogs",
    path: page(`${settings}/security`),
    clicks: ["Add passkey"],
    isForm: true,
  },
  "change the email address": {
    file: "settings/profile/change-address",
    path: page(`${settings}/profile`),
    clicks: ["Change email address…"],
    isForm: true,
  },
  "create a team": {
    file: "settings/team/new-team",
    path: page(`${settings}/team`),
    clicks: ["Create team"],
    isForm: true,
  },
  "delete a team": {
    file: "settings/team/delete-team",
    path: page(`${settings}/team`),
    clicks: ["Delete team…"],
    isForm: true,
  },
  "add a relay": {
    file: "installation/relays/dialogs",
    path: page(`${installation}/relays`),
    clicks: ["Add relay"],
    isForm: true,
  },
  "edit a relay": {
    file: "installation/relays/dialogs",
    path: page(`${installation}/relays`),
    clicks: ["Actions for main", { item: "Edit…" }],
    isForm: true,
  },
  "test a relay": {
    file: "installation/relays/dialogs",
    path: page(`${installation}/relays`),
    clicks: ["Actions for main", { item: "Test login" }],
  },
  "pause a relay": {
    file: "installation/relays/dialogs",
    path: page(`${installation}/relays`),
    clicks: ["Actions for main", { item: "Pause…" }],
    isForm: true,
  },
  "remove a relay": {
    file: "installation/relays/relay-menu",
    path: page(`${installation}/relays`),
    clicks: ["Actions for main", { item: "Remove…" }],
  },
  "pause sending": {
    file: "installation/queues/dialogs",
    path: page(`${installation}/queues`),
    clicks: ["Pause sending…"],
    isForm: true,
  },
  "resume sending": {
    file: "installation/queues/queues-page",
    path: page(`${installation}/queues`),
    clicks: [/^Resume/],
  },
  "purge a queue": {
    file: "installation/queues/dialogs",
    path: page(`${installation}/queues`),
    clicks: ["Purge queue…"],
    isForm: true,
  },
};
