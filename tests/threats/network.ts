import type { Dangers } from "./threat";

/** What may be tried with addresses that somebody else chose, and with what comes from there. */
export const OUTSIDE: Dangers = {
  "addresses inside, in any notation": [
    ["platform/egress/address", "addresses that nobody may be made to call"],
    [
      "platform/egress/outside-url",
      "an address inside, in any notation",
      "userinfo",
      "another port",
      "plain http",
    ],
  ],
  "a name that leads elsewhere at the second look": [
    [
      "platform/egress/outside",
      "one look-up decides and is connected to, while SNI, Host and the certificate keep the name",
      "a name that turns inward after the first look-up is checked again and not called",
      "one address inside among allowed ones spoils the name",
    ],
  ],
  redirects: [
    ["platform/egress/outside", "a %i is an answer and is not followed"],
    ["delivery/webhooks/deliver", "a %i is a failure and is not followed"],
    ["delivery/mta-sts", "an enforced policy is applied, and one with an invalid certificate is ignored"],
  ],
  "names of internal networks": [["platform/egress/outside-url", "a name of an internal network"]],
  "a proxy in the environment": [["platform/egress/outside", "a proxy named by the environment is not used"]],
  "what answers tell of the network": [
    ["platform/egress/outside", "an address that may not be reached looks the same whatever listens there"],
    ["delivery/webhooks/deliver", "has its response recorded as text up to 16 KB, for any content"],
  ],
  "mail servers at addresses inside": [
    ["mail/direct", "an address that the guard denies is not connected to, and a reachable one beside it is"],
    [
      "delivery/direct",
      "with SMTP_URL=direct: a worker resolves the MX hosts, avoids internal addresses and records each outcome",
    ],
  ],
  "a team's relay at an address inside": [
    [
      "delivery/relay-guard",
      "a team's relay at an internal address is not connected to, given as address or as name",
      "a single internal address among others blocks a team's relay",
      "a connection uses the address that was checked: the name is not resolved again",
    ],
  ],
  "events that are forged or repeated to a receiver": [
    ["services/webhooks/sign", "all active secrets sign, and the reference library verifies each signature"],
    [
      "delivery/webhooks/deliver",
      "is retried by the table with the same id and body and a new signature each time, until the event fails",
      "during a rotation both secrets sign, and a day later only the new one",
    ],
  ],
  "callbacks that no provider sent": [
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
  "bounces and complaints of strangers": [
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
};
