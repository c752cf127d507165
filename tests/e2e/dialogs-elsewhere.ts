/**
 * Dialogs that need a longer story than those of `DIALOGS`: by file, for each of its dialogs the name with
 * which a suite calls `takePictures` while the dialog is open, which checks it, and that suite.
 */
export const ELSEWHERE: Record<string, Record<string, string>> = {
  "_ui/palette/palette": { palette: "shell" },
  "_ui/session/sign-in-again": { "session-ended": "session-end" },
  "_ui/shell/leave-guard": { "template-leave": "session-end" },
  "_ui/shell/phone-menu-open": { "phone-menu": "shell" },
  "emails/[id]/dialogs": { "email-resolve": "emails" },
  "emails/[id]/send-again-dialog": { "dialog-send-again": "email-pages" },
  "installation/queues/dialogs": { "installation-purge": "installation" },
  "keys/[id]/dialogs": { "key-rotated": "keys" },
  "keys/create-key": { "key-created": "keys" },
  "overview/held/held-dialog": { held: "held", "held-canceled": "held" },
  "settings/members/dialogs": {
    "members-link": "team",
    "members-new-link": "team",
    "members-withdraw": "team",
  },
  "settings/personal-data/personal-data-page": { "personal-data-erase": "data-rights" },
  "settings/security/passkey-dialogs": { "passkey-rename": "security", "passkey-remove": "security" },
  "settings/security/proof-dialog": { "security-app": "security" },
  "settings/security/sessions-section": { "security-end-sessions": "security" },
  "settings/security/sign-in-methods": { "security-unlink": "openid-connect" },
  "settings/security/two-factor-dialogs": {
    "security-renew-codes": "security",
    "security-remove-app": "security",
  },
  "settings/team/retention-section": { "team-retention": "team" },
  "templates/[id]/dialogs": { "template-conflict": "templates" },
  "webhooks/[id]/confirmations": { "webhook-retry": "webhooks", "webhook-rotated": "webhooks" },
  "webhooks/[id]/deliveries/replay-button": { "webhook-replay-event": "webhooks" },
  "webhooks/endpoint-form": { "webhook-secret": "webhooks" },
};
