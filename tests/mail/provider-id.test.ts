import { expect, test } from "vitest";
import { parseSmtpReply } from "#server/mail/outcome";
import { type MailProvider, providerIdOf, providerOfHost } from "#server/mail/transport/provider-id";

const ours = "app-1@mail.example.com";

test.each<[MailProvider, string, string | null]>([
  [
    "ses",
    "250 Ok 010001870dbae81e-35118332-f389-474c-8b37-69ce1e1934ae-000000",
    "010001870dbae81e-35118332-f389-474c-8b37-69ce1e1934ae-000000",
  ],
  ["ses", "250 Ok", null],
  ["ses", "250 2.0.0 Ok: queued as 4F3A1B2C", null],
  ["sendgrid", "250 Ok: queued as nKfOBWTnQ7uOGrb-vFx35Q", "nKfOBWTnQ7uOGrb-vFx35Q"],
  ["sendgrid", "250 Queued mail for delivery", null],
  ["resend", "250 49a3999c-0ce1-4ea6-ab68-afcd6dc2e794", "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"],
  ["resend", "250 OK", null],
  ["postmark", "250 2.0.0 Ok: queued as 6A59F1C0", "0198c5a2"],
  ["mailgun", "250 Great success", ours],
  [
    "brevo",
    "250 2.0.0 OK: queued as <202508020358.4790@smtp-relay.brevo.com>",
    "202508020358.4790@smtp-relay.brevo.com",
  ],
  ["brevo", "250 2.0.0 OK", ours],
  ["scaleway", "250 2.0.0 OK", ours],
  ["mailersend", "250 Message queued as 61eec2dc16ae8b627a4b87e7", "61eec2dc16ae8b627a4b87e7"],
  ["mailersend", "250 OK", null],
  ["mailjet", "250 OK queued as a08b7f37-ed61-423a-ba75-38ed2fd4b54c", "0198c5a2"],
  ["sparkpost", "250 2.0.0 OK 5F/3B-10239-A0C45A75", "0198c5a2"],
])("%s that accepts with %j has the message id %j", (provider, reply, id) => {
  expect(providerIdOf(provider, parseSmtpReply(reply), { id: "0198c5a2", messageId: ours })).toBe(id);
});

test.each([
  ["email-smtp.eu-west-1.amazonaws.com", "ses"],
  ["smtp.postmarkapp.com", "postmark"],
  ["smtp.eu.mailgun.org", "mailgun"],
  ["SMTP.sendgrid.net", "sendgrid"],
  ["smtp.resend.com", "resend"],
  ["smtp-relay.brevo.com", "brevo"],
  ["in-v3.mailjet.com", "mailjet"],
  ["smtp.eu.sparkpostmail.com", "sparkpost"],
  ["smtp.tem.scaleway.com", "scaleway"],
  ["smtp.tem.scw.cloud", "scaleway"],
  ["smtp.mailersend.net", "mailersend"],
  ["smtp.notresend.com", null],
  ["resend.com.example.net", null],
])("the provider of %s is %s", (host, provider) => {
  expect(providerOfHost(host)).toBe(provider);
});
