import type { Threats } from "./threat";

/** Threats in messages. */
export const MESSAGE: Threats = {
  "header injection by line breaks, NUL and control characters": [
    ["rest/injection", "control characters in %s are 422, never cleaned silently"],
    ["rest/email-changes", "that are invalid are rejected with their name: %j"],
    ["mail/compose", "has each structural field once, and nothing else"],
    [
      "mail/python-email",
      "parses our email to its exact content, without additional fields and without defects",
    ],
  ],
  "reserved headers": [
    ["rest/injection", "headers that Backstamp writes cannot be set, in any letter case"],
    ["mail/headers", "%s is reserved", "%j is not a valid name", "is allowed once, case-insensitively"],
  ],
  "a sender that parsers interpret differently": [
    [
      "rest/injection",
      "a sender that parsers interpret differently is rejected, or parsed by the strict grammar",
    ],
    ["mail/address", "an address is never parsed as a different domain than the one sent to"],
    ["mail/compose", "is not built from a draft with %s"],
  ],
  "one domain in several spellings": [
    ["mail/address", "a domain name is normalized to the form that is compared and sent"],
    ["rest/senders", "letter case and Unicode do not change a domain"],
    ["rest/domains", "has one canonical name in any spelling"],
  ],
  "non-ASCII local parts and lone surrogates": [
    ["mail/address", "with a flag if its local part needs SMTPUTF8, and in composed form"],
    ["mail/relay", "an address that needs SMTPUTF8 is sent if it is offered, and rejected alone otherwise"],
  ],
  "a domain of another owner": [
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
  "a domain that its last owner released": [
    [
      "rest/domain-ownership",
      "a released name must be verified again: the records of the last owner are not valid for any team, including that owner",
    ],
  ],
  "a display name that looks like an address": [
    ["rest/emails", "with an @ in the display name: only the address counts"],
  ],
  "recipients that are not counted or are disclosed to others": [
    ["rest/emails", "two recipients in one string", "too many recipients"],
    ["delivery/smtp", "bcc recipients get the email and do not appear in it"],
  ],
  "text with superlinear parsing time": [
    ["mail/address", "any text of any size is parsed without an exception and in linear time"],
    ["rest/injection", "an address with many %s is parsed in linear time"],
    ["mail/bounce/read-report", "takes linear time for many %s"],
    ["mail/replies", "matching a phrase reads each character at most once per piece of the phrase"],
    ["mail/tracked-html", "time is linear in the length, also without any end tags"],
  ],
  "SMTP smuggling": [
    ["mail/relay", "bare line ends and lone dots in a body cannot end the message early"],
    ["mail/compose", "is 7-bit, with CRLF only, and with lines of at most 998 octets, for any input"],
  ],
  "overlong lines": [
    ["mail/compose", "is 7-bit, with CRLF only, and with lines of at most 998 octets, for any input"],
    ["rest/injection", "a header with its name is one line of at most 998 octets"],
  ],
  "local files and internal URLs as attachments": [
    ["rest/email-changes", "that are invalid are rejected with their name: %j"],
    ["rest/fetched-files", "%s is rejected, nothing is stored, and no other host is called"],
  ],
  "DKIM signatures with missing coverage or another domain": [
    [
      "mail/dkim/sign",
      "rejects a message if a covered field is changed, removed or added again: %s",
      "rejects another body, another key, and a changed signature",
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
      "product/interoperability/postfix",
      "delivers body and headers byte for byte, to a mailbox and to a server behind it, with both signatures valid",
    ],
  ],
};
