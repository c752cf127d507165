/** Words of one meaning, separated by `|`, as the alternatives of a phrase. */
const anyOf = (words: string): string =>
  `{${words
    .split(/[|\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== "")
    .join("/")}}`;

/** The address of a recipient, and what stands behind it. */
export const MAILBOX =
  anyOf(`user | mailbox | mailboxes | mail box | recipient | recipients | account | address
  addresses | addressee | alias | inbox | username | userid | customer | rcpt | receiver | forward path | local part
  mail drop | mailaddress`);

/** Words that can also mean the message or the sender. */
export const PERHAPS_MAILBOX = anyOf(
  "email | emails | destination | login | subscriber | member | person | student",
);

/** A mailbox as the object of "no such" and "unknown". */
export const MAILBOX_AFTER =
  anyOf(`user | mailbox | mail box | recipient | account | addressee | alias | inbox
  username | customer | local part | rcpt | receiver | email address | mail address | e mail address | mailaddress
  emailaddress | email account | virtual | local user | local recipient | local mailbox | employee | forward path
  destination address | destination mailbox | userid | mail account | name here | or illegal alias`);

/** What is said of a mailbox that does not exist. */
export const IS_UNKNOWN =
  anyOf(`unknown | not found | notfound | not exist | t exist | doesnt exist | no longer exist
  nonexist | non exist | not known | not recognized | not recognised | unrecognized | t recognized | invalid
  not valid | t valid | undeliverable | unrouteable | unroutable | not routable | no longer valid | not a valid
  be found | t found | not listed | not registered | not a registered | not present | deleted | removed | no longer on
  no longer available | no longer in | no longer active | no longer with | no longer here | no longer accept
  no longer used | no longer employed | has moved | has left | closed_ | been closed | not hosted | not located | not a local
  not local | not defined | does not appear | incorrect | misspelled | not an existing | has ceased | not a user
  not correct | t have a | not have a | not assigned | unassigned | name not allowed | not our | t here | not here
  not a mailbox | not a known | not an active | not deliverable | not in our | not in recipient`);

/** What precedes the word for a mailbox that does not exist. */
export const UNKNOWN =
  anyOf(`unknown | no such | no | invalid | nonexistent | non existent | nonexisting | not existing
  unrecognized | undeliverable | unrouteable | unroutable | illegal | wrong | not valid | not a valid | not a known | not an existing
  not a | not our | incorrect | no local | no valid | cannot find | can t find | could not find | couldn t find | no known | does not have
  unable to find | can t locate | cannot locate | not valid | undefined | no existing | removed | deleted
  bad destination | bad recipient | deliver mail for | not local`);

/** The address of a sender. */
export const SENDER =
  anyOf(`sender | senders | return path | reverse path | mail from | envelope from | from address
  from header | from domain | originator | sender s`);

/** What is said of a sender's address that is rejected. */
export const IS_REJECTED =
  anyOf(`rejected | refused | denied | unknown | invalid | verif | not exist | t exist | not found
  resolv | not valid | syntax | has no | no a_ | no mx | no dns | malformed | not recognized | unverified
  not accepted | undeliverable | callout | not allowed | not accept mail | unroutable | unrouteable | blocked`);

/** The sending server. */
export const NETWORK = anyOf(`ip | ip address | your server | your host | network | client | your ip | ips
  your mail server | sending server`);

/** What is said of a server that a block list names. */
export const IS_BLOCKED =
  anyOf(`banned | blocked | blacklisted | black listed | listed | on our | rejected | refused
  denied | not accepted | not be accepted | in the black`);
