import type { ReplyClass } from "#server/shared/reply-classes";

/**
 * Phrases that identify a class. `phrases` holds one phrase per line, or several separated by `|`, in the
 * form that the classifier normalizes text to: lower case, no accents, no punctuation. A phrase starts at the
 * start of a word and may end inside one. A trailing `_` requires the end of a word; `…` matches any words in
 * between. `only` limits the rule to temporary or permanent rejections.
 */
export type WordRule = { class: ReplyClass; only?: "temporary" | "permanent"; phrases: string };

/**
 * Phrases whose meaning does not depend on the reply code. Specific rules come first; the first match wins.
 */
export const PLAIN_WORDS: readonly WordRule[] = [
  { class: "greylist", phrases: "greylist | graylist | grey list | gray list" },
  {
    class: "tls",
    phrases: "using a tls connection | must issue a starttls | tls required | requires tls | after starttls",
  },
  {
    class: "content",
    phrases: `virus_ | virus found | malware | illegal attachment | attachment type | content rejected | banned content
      content presents | spam url | rfc 5322 compliant | rfc compliant | duplicate header | header error
      multiple addresses in from | messages with multiple | multiple 550 5 7 1 addresses in from | missing a valid | 8 bit data
      flagged as spam | classified as spam | detected as spam | considered as spam | looks like spam | spam detected
      suspicion of spam | anti spam engine | likely unsolicited | dt spm_`,
  },
  {
    class: "auth",
    phrases: `spf_ | dmarc | dkim_ | unauthenticated email | unauthenticated sender | sender is unauthenticated
      authentication information | ptr record | dns ptr | reverse dns | reverse hostname | find your hostname
      ip name lookup failed | purported responsible | mismatches client ip | anti spoofing`,
  },
  {
    class: "reputation",
    phrases: `reputation | spamhaus | blacklist | blocklist | block list | black list | blocked using | dnsbl | rbl_
      listed in | banned sending ip | ip address … blocked | black ip | bloquee pour incident | aup_ | hl rep_
      not authorized to send email directly | permanently deferred`,
  },
  {
    class: "rate",
    phrases: `rate limit | receiving mail at a rate | receiving email at a rate | too quickly | unusual rate | unusual amount
      too many connections | too many sessions | too many recent | too many messages | too many recipients
      to too many | frequency limited | sending limit exceeded | relay limit exceeded | limit for the number of messages
      excessive volume | unexpected volume | connection rate | concurrent connections | queue quota
      quota for sending | too many same | out of allow rcpt | separate transaction | hl icc_ | hl ifc_ | mi cel_ | rp drc_`,
  },
  {
    class: "quota",
    phrases: `over quota | overquota | quota exceeded | quota limit exceeded | quota violation | mailbox full
      mailbox is full | mailbox … is full | inbox is full | out of storage | exceeded storage | storage limit
      boite … pleine | postfach … voll | speicherplatz | buzon … llen | casella … piena | caixa … cheia
      ящик переполнен | 邮箱已满 | 容量满 | too much mail data`,
  },
  {
    class: "size",
    phrases: `too large | too big | message size | message length | message exceeded | size limit | is too long
      exceeds google s | larger than | nachricht zu gross | message trop volumineux`,
  },
  {
    class: "policy",
    phrases: `relay access denied | relay denied | relaying denied | relay prohibited | relay not permitted
      smtp authentication in your mail client | recipient preferences | administrative prohibition`,
  },
  {
    class: "sender",
    phrases: `sender address | invalid sender | sender rejected | denies the sender | sender domain
      emetteur invalide | email address is not verified | absender`,
  },
  {
    class: "disabled",
    phrases: `mailbox is frozen | temporar … locked | user is locked | account is blocked | destinataire est bloque
      mailbox has been blocked | user suspended | account suspended | mailbox suspended | account has been suspended
      recipient address rejected blocked | mailbox … temporarily disabled | account … temporarily disabled`,
  },
  {
    class: "hard",
    phrases: `user unknown | unknown user | no such user | no such mailbox | no such recipient | no such address
      user not found | user not exist | user does not exist | mailbox does not exist | account … does not exist
      recipient … does not exist | address does not exist | doesn t have a … account | unknown recipient
      recipient unknown | recipient not found | recipientnotfound | recipnotfound | addressee unknown
      invalid recipient | invalid mailbox | mailbox not found | not our user | not our customer
      not a registered | host unknown | unknown host | invalid domain | no longer on server | no longer valid
      disabled or discontinued | account is disabled | reach is disabled | reach is inactive | disabled recipient
      destinataire invalide | destinataire inconnu | not in recipient list | could not be found | marked as invalid
      recipient address rejected access denied | recipient address rejected invalid | recipient address rejected inactive
      empfanger unbekannt | postfach existiert nicht | benutzer unbekannt | usuario desconocido | usuario no existe
      utente sconosciuto | utente non esiste | usuario inexistente | нет такого пользователя | пользователь не найден
      用户不存在 | 邮箱不存在 | 收件人不存在`,
  },
  {
    class: "hard",
    only: "permanent",
    phrases:
      "mailbox unavailable | recipient unavailable | host does not accept mail | domain is not reachable | domain not found",
  },
];

/** Phrases that servers use for many reasons. They count only if the enhanced code does not name a reason. */
export const VAGUE_WORDS: readonly WordRule[] = [
  {
    class: "soft",
    only: "temporary",
    phrases:
      "temporar | try again | later_ | unavailable | time out | timeout | timed out | internal | resources | busy",
  },
  { class: "content", phrases: "spam | unsolicited | message filtered | content_ | ube_ | junk" },
  {
    class: "policy",
    phrases: `policy | policies | access denied | not allowed | not permitted | not authorized | prohibited
      prohibits | restricted | restriction | blocked | block_ | client host rejected | refuses | refused due
      rejected by destination | allowed hosts | badrcptto | ers customized | whitelist | allowlist | authrequired | access_`,
  },
  { class: "hard", phrases: "address rejected | recipient address | invalid address | bad destination" },
  {
    class: "soft",
    phrases: `temporar | try again | later_ | service unavailable | service currently unavailable | not accepting connections
      timed out | message expired | system config | local error | too many hops | loop | internal error`,
  },
  {
    class: "protocol",
    phrases: "syntax | bad sequence | improper sequence | not implemented | unrecognized",
  },
];

/** Class by subject alone, used if neither the detail nor the text identifies one. */
export const SUBJECTS: Readonly<Record<string, ReplyClass>> = {
  "1": "hard",
  "2": "other",
  "3": "soft",
  "4": "soft",
  "5": "protocol",
  "6": "content",
  "7": "policy",
};
