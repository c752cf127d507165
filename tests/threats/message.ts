import type { Dangers } from "./threat";

/** What may be tried with a message, and where it is shown that it leads to nothing. */
export const MESSAGE: Dangers = {
  "line breaks, NUL and controls in whatever becomes a header": [
    ["rest/injection", "control characters in %s are 422, never cleaned silently"],
    ["rest/email-changes", "that are invalid are rejected with their name: %j"],
    ["mail/compose", "has each structural field once, and nothing else"],
    [
      "mail/python-email",
      "finds in our mail what was written, no field more, and no offence against any rule",
    ],
  ],
  "headers that are Backstamp's to write": [
    ["rest/injection", "headers that Backstamp writes cannot be set, in any letter case"],
    ["mail/headers", "%s is reserved", "%j is not a valid name", "is allowed once, case-insensitively"],
  ],
  "a sender that two parsers read differently": [
    [
      "rest/injection",
      "a sender that parsers interpret differently is rejected, or parsed by the strict grammar",
    ],
    ["mail/address", "an address is never parsed as a different domain than the one sent to"],
    ["mail/compose", "is not built from a draft with %s", "the sender is read back from built bytes"],
  ],
  "one domain in several spellings": [
    ["mail/address", "a domain name is read in the form that is compared and sent"],
    ["rest/senders", "letter case and Unicode do not change a domain"],
    ["rest/domains", "has one canonical name in any spelling"],
  ],
  "local parts outside ASCII, and half characters": [
    ["mail/address", "with a mark when its local part needs SMTPUTF8, and in composed form"],
    ["mail/relay", "an address that needs SMTPUTF8 is sent if it is offered, and rejected alone otherwise"],
  ],
  "a domain that is not the sender's": [
    [
      "rest/senders",
      "a domain that is not linked to the key is the 403 of the specification, whether it exists or not",
    ],
    [
      "rest/domain-ownership",
      "no key can send from another team's domain or its subdomains",
      "changes to failed after three days of failed checks, which stops sending",
    ],
    [
      "rest/domain-claims",
      "do not reveal that another team has verified the name",
      "stays pending while a record of the other team is visible, even at only one resolver",
      "is one of two teams that prove it at the same time, and the other one gets the reason",
    ],
    ["rest/domains", "is rejected with the name %j"],
    [
      "delivery/unlinked",
      "queued email is not sent after the sender's domain is deleted, whichever API key sent it",
    ],
  ],
  "a domain that its last owner let go": [
    [
      "rest/domain-ownership",
      "a released name must be verified again: the records of the last owner are not valid for any team, including that owner",
    ],
  ],
  "a name that looks like an address": [
    ["rest/emails", "with an @ in the display name: only the address counts"],
  ],
  "recipients that are not counted, or are shown to others": [
    ["rest/emails", "two recipients in one string", "too many recipients"],
    ["delivery/smtp", "bcc recipients get the email and do not appear in it"],
  ],
  "texts that take long to read": [
    ["mail/address", "any text of any size is judged without an exception and in linear time"],
    ["rest/injection", "an address with many %s is parsed in linear time"],
    ["mail/bounce/read-report", "takes linear time for many %s"],
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
    ["rest/injection", "a header with its name is one line of at most 998 octets"],
  ],
  "files of this machine and of its network as attachments": [
    ["rest/email-changes", "that are invalid are rejected with their name: %j"],
    ["rest/fetched-files", "%s is rejected, nothing is stored, and no other host is called"],
  ],
  "signatures that cover too little, or the wrong domain": [
    [
      "mail/dkim/sign",
      "refuses each covered field when it is changed, taken away, or given a second time, in mail of %s",
      "refuses another body, another key, and a signature that was touched",
    ],
    [
      "rest/domains",
      "has an RSA key of 2048 bits, whose private key is encrypted at rest and never returned",
    ],
    [
      "delivery/dkim",
      "sent messages are signed with both keys of the sender's domain",
      "email whose DKIM key cannot be decrypted waits and is never sent unsigned",
    ],
    [
      "delivery/postfix",
      "delivers body and headers byte for byte, to a mailbox and to a server behind it, with both signatures valid",
    ],
  ],
};
