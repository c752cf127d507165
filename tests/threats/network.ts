import type { Threats } from "./threat";

/** Threats from URLs, addresses and reports of others. */
export const NETWORK: Threats = {
  "internal addresses in any notation": [
    ["platform/egress/address", "addresses that must not be called"],
    [
      "platform/egress/outside-url",
      "an internal address, in any notation",
      "userinfo",
      "another port",
      "plain http",
    ],
  ],
  "DNS rebinding": [
    [
      "platform/egress/outside",
      "the address of a single lookup is checked and connected to; SNI, Host and the certificate check use the name",
      "a name that resolves to an internal address later is checked again and not called",
      "a single internal address among others blocks the name",
    ],
  ],
  redirects: [
    ["platform/egress/outside", "a %i is a response and is not followed"],
    ["delivery/webhooks/deliver", "a %i is a failure and is not followed"],
    ["delivery/mta-sts", "an enforced policy is applied, and one with an invalid certificate is ignored"],
  ],
  "metrics read by others, or made endless by them": [
    [
      "rest/metrics",
      "is 401 with a wrong token, and reads nothing from the database for it",
      "contains no team, address, subject or name of a team's relay",
      "hostile names and replies do not add series without limit",
    ],
    ["startup/worker-metrics", "a worker serves its own metrics on loopback, only with the token"],
  ],
  "traces begun by others, or with content": [
    [
      "delivery/traces",
      "a request without a valid key writes no trace",
      "a trace of a failed attempt has the code of the reply, and no trace has an address or content",
    ],
  ],
  "names of internal networks": [["platform/egress/outside-url", "a name of an internal network"]],
  "a proxy in the environment": [
    ["platform/egress/outside", "a proxy in the environment variables is not used"],
  ],
  "information about the network in responses": [
    ["platform/egress/outside", "a blocked address gives the same result, whatever listens there"],
    ["delivery/webhooks/deliver", "has its response recorded as text up to 16 KB, for any content"],
  ],
  "mail servers at internal addresses": [
    ["mail/direct", "an address that the guard denies is not connected to, and a reachable one beside it is"],
    [
      "delivery/direct",
      "with SMTP_URL=direct: a worker resolves the MX hosts, avoids internal addresses and records each outcome",
    ],
  ],
  "a team's relay at an internal address": [
    [
      "delivery/relay-guard",
      "a team's relay at an internal address is not connected to, given as address or as name",
      "a single internal address among others blocks a team's relay",
      "a connection uses the address that was checked: the name is not resolved again",
    ],
  ],
  "forged or repeated events to an endpoint": [
    ["services/webhooks/sign", "all active secrets sign, and the reference library verifies each signature"],
    [
      "delivery/webhooks/deliver",
      "is retried by the table with the same id and body and a new signature each time, until the event fails",
      "during a rotation both secrets sign, and a day later only the new one",
    ],
  ],
  "forged provider callbacks": [
    [
      "rest/callbacks",
      "is rejected and counted if one character of the signature or of the body differs",
      "reports the same twice, in the same or another call, and it counts once",
      "cannot report on email sent by another relay of any team",
      "cannot report on another team's email with a team's relay, even if the email names that relay",
    ],
    [
      "rest/callback-sns",
      "of another topic is rejected without any request",
      "whose certificate URL is not at SNS is rejected without any request",
      "that is signed with another certificate is rejected",
      "that is forged or for another topic is not confirmed",
    ],
  ],
  "forged bounces and complaints": [
    [
      "services/returns/returns",
      "is ignored %s",
      "is found by Message-ID and recipient, and never suppresses",
      "changes no other recipient of the email and no other email, even if it names them",
      "a bounce changes only the sending team's data, not that of another team with the same recipient",
    ],
    [
      "mail/bounce/listener",
      "rejects %s with 550 and accepts no message",
      "closes the connection of a client that guesses addresses",
    ],
  ],
  "SMTP clients without a login": [
    [
      "load/submission-limits",
      "an address has at most ten connections without a login; connections with one do not count",
      "with all places taken, the longest idle connection without a login is closed for a new one",
      "after three failed logins the connection is closed",
    ],
    [
      "submission/submission",
      "a wrong key or user is 535, and nothing is accepted without a login",
      "a key revoked during a connection is rejected at its next message",
    ],
    [
      "submission/tls",
      "with a certificate, AUTH is not announced before STARTTLS, and nothing is accepted without TLS",
    ],
  ],
  "smuggled messages and foreign senders over SMTP": [
    [
      "submission/submission",
      "a smuggled second message",
      "a field by which a relay adds recipients",
      "two From headers",
      "a sender domain that is not the key's is 550, whatever the envelope sender is",
    ],
    ["mail/raw/content", "From fields %j are rejected"],
    ["delivery/submitted", "a From header that differs from the checked sender is never sent"],
  ],
};
