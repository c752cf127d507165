import type { Dangers } from "./dangers";

/** What may be tried with addresses that somebody else chose, and with what comes from there. */
export const OUTSIDE: Dangers = {
  "addresses inside, in any notation": [
    ["egress/address", "addresses that nobody may be made to call"],
    ["egress/outside-url", "an address inside, in any notation", "userinfo", "another port", "plain http"],
  ],
  "a name that leads elsewhere at the second look": [
    [
      "egress/outside",
      "one look-up decides and is connected to, while SNI, Host and the certificate keep the name",
      "a name that turns inward after the first look-up is checked again and not called",
      "one address inside among allowed ones spoils the name",
    ],
  ],
  redirects: [
    ["egress/outside", "a %i is an answer and is not followed"],
    ["worker/webhooks/deliver", "a %i is a failure that leads nowhere"],
    ["worker/mta-sts", "an enforced one is kept, and one that cannot prove whose it is counts for nothing"],
  ],
  "names of internal networks": [["egress/outside-url", "a name of an internal network"]],
  "a proxy in the environment": [["egress/outside", "a proxy named by the environment is not used"]],
  "what answers tell of the network": [
    ["egress/outside", "an address that may not be reached looks the same whatever listens there"],
    ["worker/webhooks/deliver", "what it answers is kept as text up to 16 KB, whatever it is"],
  ],
  "mail servers at addresses inside": [
    ["mail/direct", "an address that the guard denies is not connected to, and a reachable one beside it is"],
    [
      "worker/direct",
      "by SMTP_URL=direct: a worker finds the servers in DNS, keeps out of the network inside, and tells each fate",
    ],
  ],
  "a team's relay at an address inside": [
    [
      "worker/relay-guard",
      "a team's relay inside is not connected to, be it given as an address or by a name",
      "one address inside among others condemns a team's relay",
      "a connection goes to the address that was judged: a name that changes its mind is not asked again for it",
    ],
  ],
  "events that are forged or repeated to a receiver": [
    ["services/webhooks/sign", "every live secret signs, and the reference library takes either for its own"],
    [
      "worker/webhooks/deliver",
      "is tried by the table with one id, one body and a fresh signature each time, and then given up",
      "during a rotation both secrets sign, and a day later the new one alone",
    ],
  ],
  "callbacks that no provider sent": [
    [
      "rest/callbacks",
      "is not believed where a letter of the proof or of what is proven is another, and it is counted",
      "tells the same again, by the same call or by a new one, and it counts once",
      "tells nothing of mail that went by another relay, whosever it is",
      "tells nothing of another team's mail by a team's relay, even where the mail names that relay",
    ],
    [
      "rest/callback-sns",
      "of another topic is refused, and nothing is fetched for it",
      "whose certificate lies elsewhere is refused, and nothing is fetched for it",
      "that is signed by another's certificate is refused",
      "to another topic, or one that is forged, is not confirmed",
    ],
  ],
  "bounces and complaints of strangers": [
    [
      "services/returns/returns",
      "is ignored %s",
      "is found by Message-ID and recipient, and never suppresses",
      "touches no other recipient of the mail, nor another mail, whatever it says of them",
      "the team whose mail came back learns it, and no other that writes to the same address",
    ],
    ["mail/bounce/listener", "refuses %s with 550, and takes nothing", "hangs up on whoever guesses"],
  ],
};
