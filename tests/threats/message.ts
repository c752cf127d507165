import type { Dangers } from "./dangers";

/** What may be tried with a message, and where it is shown that it leads to nothing. */
export const MESSAGE: Dangers = {
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
