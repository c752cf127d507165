import type { RelayProvider } from "#db/schema/relays";
import type { Scheme } from "#server/mail/callbacks/callback";
import { mailgun } from "#server/mail/callbacks/mailgun";
import { postmark } from "#server/mail/callbacks/postmark";
import { resend } from "#server/mail/callbacks/resend";
import { sendgrid } from "#server/mail/callbacks/sendgrid";

/**
 * Providers that authenticate callbacks by a secret. SES uses a certificate, which has to be fetched first.
 */
export const SCHEMES: Readonly<Record<Exclude<RelayProvider, "ses">, Scheme>> = {
  postmark,
  mailgun,
  sendgrid,
  resend,
};

/** Display names of the providers. */
export const PROVIDER_NAMES: Readonly<Record<RelayProvider, string>> = {
  ses: "Amazon SES",
  postmark: "Postmark",
  mailgun: "Mailgun",
  sendgrid: "SendGrid",
  resend: "Resend",
};
