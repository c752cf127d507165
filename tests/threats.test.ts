import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** A file below tests/, and how what shows it is called there. */
type Proof = readonly [file: string, ...names: string[]];

/** What may be tried with a message, and where it is shown that it leads to nothing. */
const MESSAGE: Record<string, readonly Proof[]> = {
  "line breaks, NUL and controls in whatever becomes a header": [
    ["rest/injection", "control characters in %s are 422, never cleaned silently"],
    ["rest/email-changes", "that cannot be meant are refused by name: %j"],
    ["mail/compose", "has each structural field once, and nothing else"],
    [
      "mail/python-email",
      "finds in our mail what was written, no field more, and no offence against any rule",
    ],
  ],
  "headers that are Posthorn's to write": [
    ["rest/injection", "headers that Posthorn writes cannot be set, in whatever letters"],
    ["mail/headers", "%s is reserved", "%j is no name", "comes once, in whatever letter case"],
  ],
  "a sender that two parsers read differently": [
    [
      "rest/injection",
      "a sender that parsers read differently is refused, or read as the strict grammar has it",
    ],
    ["mail/address", "an address is never read as another domain than the one that goes out"],
    ["mail/compose", "is not built from a draft with %s", "the sender is read back from built bytes"],
  ],
  "one domain in several spellings": [
    ["mail/address", "a domain name is read in the form that is compared and sent"],
    ["rest/senders", "the same domain in other letters or as Unicode is the same domain"],
    ["rest/domains", "is one name however it is written"],
  ],
  "local parts outside ASCII, and half characters": [
    ["mail/address", "with a mark when its local part needs SMTPUTF8, and in composed form"],
    ["mail/relay", "an address that needs SMTPUTF8 is sent where it is offered, and elsewhere refused alone"],
  ],
  "a domain that is not the sender's": [
    [
      "rest/senders",
      "a domain that is not linked to the key is the interface's 403, whether it exists or not",
    ],
    [
      "rest/domain-ownership",
      "of many who add a name at once, over two teams, one has it",
      "a name of another team, and what is below it, are no key's to send from",
      "is lost after bad looks over three days, and sending ends with it",
    ],
    ["rest/domains", "is not made of %j"],
    [
      "worker/unlinked",
      "mail that is queued from a domain is not sent once the domain is deleted, whichever key brought it",
    ],
  ],
  "a domain that its last owner let go": [
    [
      "rest/domain-ownership",
      "a name that was let go is proved anew: what its last owner published helps nobody, the owner included",
    ],
  ],
  "a name that looks like an address": [
    ["rest/emails", "where the display name contains an @: the address decides"],
  ],
  "recipients that are not counted, or are shown to others": [
    ["rest/emails", "two recipients in one string", "too many recipients"],
    ["worker/smtp", "bcc recipients get the mail and stand nowhere in it"],
  ],
  "texts that take long to read": [
    ["mail/address", "any text of any size is judged without an exception and in linear time"],
    ["rest/injection", "an address of many %s costs no more than its reading"],
    ["mail/bounce/read-report", "takes no longer for many %s"],
    [
      "mail/replies",
      "a phrase reads each character at most once for each of its pieces, however often they nearly fit",
    ],
    ["mail/tracked-html", "time grows with the length alone, also where nothing is ever closed"],
  ],
  "a message that ends early for some and not for others": [
    ["mail/relay", "bare line ends and lone dots in a body cannot end the message early"],
    ["mail/compose", "is 7-bit, CRLF only, in lines of at most 998, whatever comes in"],
  ],
  "lines that are too long": [
    ["mail/compose", "is 7-bit, CRLF only, in lines of at most 998, whatever comes in"],
    ["rest/injection", "a header's value is one line that fits into 998 octets with its name"],
  ],
  "files of this machine and of its network as attachments": [
    ["rest/email-changes", "that cannot be meant are refused by name: %j"],
    ["rest/fetched-files", "%s is refused, nothing is kept, and nobody else is asked"],
  ],
  "signatures that cover too little, or the wrong domain": [
    [
      "mail/dkim/sign",
      "refuses each covered field when it is changed, taken away, or given a second time, in mail of %s",
      "refuses another body, another key, and a signature that was touched",
    ],
    [
      "rest/domains",
      "has an RSA key of 2048 bits, whose private half is sealed at rest and told by no answer",
    ],
    [
      "worker/dkim",
      "what goes over the wire is signed by both keys of the sender's domain",
      "mail whose key does not open waits, and never goes out unsigned",
    ],
    [
      "worker/postfix",
      "brings body and headers byte for byte, into a mailbox and to a server behind it, with both signatures whole",
    ],
  ],
};

/** What may be tried with addresses that somebody else chose, and with what comes from there. */
const OUTSIDE: Record<string, readonly Proof[]> = {
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

/** What may be tried at the door of the console, and with a session. */
const SIGN_IN: Record<string, readonly Proof[]> = {
  "guessing a password": [
    [
      "console/sign-in",
      "answers an unknown address exactly like a wrong password",
      "is refused after a few tries at one account from one address, known or not",
      "is refused after many tries from one address at whatever accounts",
      "stays open to an account's owner while strangers everywhere guess at it",
    ],
    [
      "console/account",
      "is not guessed at a screen that was left: a few tries a minute, and no session ends by them",
    ],
  ],
  "a door that forgets the second factor": [
    [
      "console/second-factor",
      "is let in by no door without it",
      "finds every session ended that was opened by a first proof alone",
      "one file opens sessions, and only what judges a last proof calls it",
    ],
    ["console/oauth", "asks whoever has a second factor for it, and then goes where they wanted"],
    ["console/passkeys", "is not let in by the password alone, but by the passkey after it"],
  ],
  "guessing, or repeating, a code": [
    [
      "console/second-factor",
      "is taken once, also by two at the same moment, and none before it is taken after it",
      "that is wrong is tried a few times, and then the first proof must be given again",
      "is not guessed from many places, and its owner is not kept out meanwhile",
      "opens once, however it is typed, and is told in the account's events",
    ],
  ],
  "a passkey's answer to something else": [
    [
      "console/passkeys",
      "is refused for another page, host, kind or challenge, without the person, and twice",
      "is refused once its count went back, as only a copy's does",
      "answers a challenge once, and only its own person's",
    ],
  ],
  "an account elsewhere that is not the person's": [
    [
      "console/oauth",
      "refuses an address that is not verified and one that nobody has alike, and makes nobody",
      "opens who it was linked to, whatever its address is by now and whoever has that one",
      "does not let a second account of the provider take over the person of the first",
      "is refused by a state that is wrong, missing, used, or another browser's",
      "is refused without the verifier of PKCE, or by one of another time",
      "an id token is refused that is old, for somebody else, from another key or for another time",
    ],
  ],
  "a stolen session": [
    [
      "console/sessions",
      "a session that was ended is refused at its next call, and the person's other one is not",
      "a new password ends every session of that person and of nobody else",
      "a cookie that we did not make is no session",
    ],
    [
      "console/account",
      "is felt at its next call, and by no other",
      "needs the present one, and ends the other sessions",
    ],
    ["console/second-factor", "asks for the password, and so does taking it off; a code will do as well"],
  ],
  "a call made by another site": [
    ["console/second-factor", "take a second step, and a passkey's, only from a page of ours"],
    ["console/oauth", "is asked for by a POST from a page of ours alone"],
    [
      "console/procedures",
      "from another site, or from nowhere, is refused",
      "as a form could send it is refused",
    ],
  ],
  "being sent to another site": [
    ["console/own-path", "after signing in, a person lands on a page of ours"],
    [
      "console/oauth",
      "leads to no other site, whatever was wanted",
      "comes back to the public address, whatever host a call names",
    ],
  ],
  "another person's session or passkey": [
    [
      "console/account",
      "%s answers them like none, and changes nothing",
      "are looked for in every procedure that there is",
    ],
  ],
  "secrets in the database": [
    ["console/second-factor", "holds neither the secret nor a recovery code in the clear"],
    ["console/sign-in", "leaves no password in the database"],
  ],
};

describe.each([
  ["of a message", MESSAGE],
  ["of what lies outside", OUTSIDE],
  ["at the door of the console", SIGN_IN],
])("the dangers %s", (_, dangers) => {
  test.each(Object.entries(dangers))("%s: each of its tests is there", (_danger, proofs) => {
    for (const [file, ...names] of proofs) {
      const source = readFileSync(new URL(`./${file}.test.ts`, import.meta.url), "utf8");
      for (const name of names)
        expect(
          [name, `"${name}"`, `${name}:`].some((form) => source.includes(form)),
          name,
        ).toBe(true);
    }
  });
});
