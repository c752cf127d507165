import {
  IS_BLOCKED,
  IS_REJECTED,
  IS_UNKNOWN,
  MAILBOX,
  MAILBOX_AFTER,
  NETWORK,
  PERHAPS_MAILBOX,
  SENDER,
  UNKNOWN,
} from "./families";
import type { ReplyRule } from "./rules";

/**
 * Phrases about the sending server, its rate and the message, whose meaning does not depend on the reply
 * code. Specific rows come first; the first match wins.
 */
export const CLEAR_RULES: readonly ReplyRule[] = [
  {
    name: "not_in_directory",
    class: "hard",
    phrases: `not {listed/found} in {domino/public/the directory/our directory/directory/name/address book}
      final delivery userid`,
  },
  {
    name: "greylisting",
    class: "greylist",
    phrases: "greylist | graylist | grey list | gray list | grey rbl",
  },
  {
    name: "encryption_required",
    class: "tls",
    phrases: `using a tls connection | must issue a starttls | after starttls | starttls not supported | tlsa | dane_ | dnssec
      {tls/starttls/encryption/ssl} … {required/is mandatory/must be used/is needed} | tls negotiation | tls handshake
      {requires/require/without/must support/must use/only accept} {tls/starttls/encryption/a tls/an encrypted/a secure}
      certificate … {expired/mismatch/invalid/not match/not trusted/common name} | {invalid/untrusted/expired/validating} … certificate`,
  },
  {
    name: "mail_loop",
    class: "soft",
    phrases: `hop {count/limit} exceeded | retry timeout | lowest numbered mx | mx record points to | too many hops | exceeded … hops | hop count | {mail/routing/message/email/forwarding} loop | loop detected | loops back
      too many received | connection {expired/dropped/reset/lost} | timeout closing | message expired | queue expired`,
  },
  {
    name: "unusual_rate",
    class: "rate",
    phrases: `too much mail from | messaging limits | exceeded … messaging limit | server busy … limit | {unusual/excessive/unexpected/abnormal} {rate/amount/volume/number} | frequency limited | too quickly | same message id
      receiving {mail/email} at a rate | too many messages containing | quota for sending`,
  },
  {
    name: "message_form",
    class: "content",
    phrases: `bare {carriage/linefeed} | lone {cr/lf} | 822 bis | unbalanced | bad {mime/header} | invalid headers | {from/to/subject/date} header … {missing/invalid/required} | rfc {5322/2822/822/compliant} | not rfc compliant | rfc compliance | header error | missing a valid | 8 bit data | 8bit data
      {duplicate/missing/malformed/invalid/bad/multiple/illegal} {header/headers/from/message id/date/mime} | multiple addresses in from
      messages with multiple | addresses in from | bare {lf/cr/newline/linefeed} | {message/mime} … malformed | malformed {mime/message/mail}
      invalid {characters/mime/message content} | line too long | {lines/line} … longer | too many {mime/related} | header s missing
      {no/missing} {message id/from/date/subject} {header/field} | message depth | blank from | ip addresses are not allowed as a from`,
  },
  {
    name: "sender_authentication",
    class: "auth",
    phrases: `permitted sender | {authorized/allowed/permitted/designate} … {to send from/to send mail from/to send for/to send on behalf}_ | spf_ | dmarc | dkim_ | domainkeys | arc {fail/seal/valid} | sender id_ | unauthenticated {email/sender/mail/message}
      {sender/message/mail/email} is {unauthenticated/not authenticated} | authentication {information/checks/results}
      {ptr/rdns/fcrdns} | reverse {dns/lookup/hostname/host/name/record/mapping/resolution/address/ip} | find your {hostname/reverse/ptr}
      {hostname/your ip/client host/ip address/host name} … {not resolve/be resolved/no name/no dns/not match/unresolvable}_
      cannot resolve your {hostname/ip} | ip name lookup failed | purported responsible | mismatches client ip | anti spoofing
      spoof | forged | domain authentication | sender authentication | hostname mismatch | authentication failed for domain`,
  },
  {
    name: "poor_reputation",
    class: "reputation",
    phrases:
      "{low/bad/poor} … {trust/sender history/sender score} | trust score | suspicious ip | spam abuse | {traffic/mail} not accepted from | too many {spams/complaints} | history of {spam/abuse} | reputation | senderscore | sender score | spam ip_ | spam source | user complaints | permanently deferred",
  },
  {
    name: "relaying",
    class: "policy",
    phrases: `open relay | {relay/relaying} … {denied/prohibited/not permitted/not allowed/refused/forbidden/disallowed/restricted}_
      {unable/cannot/not allowed/not permitted/won t/will not/refuse/refuses/do not/don t/not authorized} … relay
      {open/unauthorized/invalid credentials for/no} {relay/relaying} | rcpthosts | not a gateway | relay access
      {smtp/mail} authentication in your mail client | authentication is required to send | requires authentication
      not authenticated to send | authenticate before sending | pop before smtp | hostname is not authorized`,
  },
  {
    name: "block_list",
    class: "reputation",
    phrases: `dns black | deny list | {ip/host/server} … known to | access list | network … blocked | local block | bad history | spamhaus | spamcop | sorbs | senderbase | barracudacentral | barracudanetworks com reputation | invaluement | ivmsip
      uceprotect | surriel | psbl | abuseat | njabl | mailspike | nixspam | manitu | lashback | trend micro | trustedsource
      ipcheck proofpoint | attrbl | gbudb | backscatterer | hostkarma | spamrats | tornevall | csi cloudmark | uribl | surbl
      {blacklist/blocklist/block list/black list/denylist/deny list/blocklisting/blacklisting/dnsbl/dnsrbl/rbl/rhsbl/black ip}
      {blacklisted/black listed/blocklisted} | {sbl/xbl/pbl/dbl/css/cbl}_ … {list/list_} | blocked using | rejected using | {is/are} listed
      listed {in/on/at/by} | due to listing | ${NETWORK} … ${IS_BLOCKED} | ${IS_BLOCKED} {sending ip/ip/host/server/network}_
      {bad/suspicious/suspected/poor/untrusted} {ip/host/sender ip/server/network/sending ip}_ | mail from {ip/ips} … rejected
      connections {not accepted/will not be accepted} from | bloquee pour incident | bloque … spam | problem occurred
      not authorized to send email directly | identified as {spammer/a spam} | known spammer | sending spam | spammers
      {dynamic/residential/dialup/dial up} {ip/host/address/pool/range} | your access to … {rejected/denied} | mail system has been rejected
      geoip | blocked by {ip/geo/our} | not allowed to connect | botnet | delist | bounce attacks | {email/mail} blocked by_
      connection {denied/rejected/blocked} | {connection/connections} from … {refused/rejected/blocked/denied}_`,
  },
  {
    name: "virus",
    class: "content",
    phrases: `antivirus | anti virus | clamav | sophos | eicar | ransomware | exploit | virus | malware | trojan | infected | contains a macro | phishing | potential security issue
      {dangerous/executable} {file/content}`,
  },
  {
    name: "attachment",
    class: "content",
    phrases: `{illegal/forbidden/banned/prohibited/blocked/unacceptable/dangerous/restricted/disallowed} … {attachment/file type/extension}
      attachment … {rejected/not allowed/blocked/not permitted/illegal/forbidden/type/not accepted}`,
  },
  {
    name: "spam_verdict",
    class: "content",
    phrases: `{contains/containing/contain} … {prohibited/banned/forbidden/blocked/blacklisted/listed} | {link/url/links/urls} … {blacklisted/listed/blocked/malicious} | spam points | bulk mail | advertis | score … {exceeded/too high/threshold} | {content/contents/body} … {rejected/denied/refused/blocked/not acceptable/policy/filter/restriction/prohibited/suspicious}
      {rejected/banned/blocked/denied/prohibited/unacceptable/offensive/suspicious/objectionable/inappropriate} … {content/contents}_
      content presents | {spam/suspicious/bad/malicious} {url/link/uri} | {url/link/uri} in {this/the/your} … listed | nature of the content
      flagged as | classified as | {detected/considered/identified/marked/recognized/categorized/judged/scored/treated/be} … {spam/junk/unsolicited/bulk}_
      looks like spam | {spam/junk} {detected/content/score/message/classification/like/filter/text/check/engine/test} | spamtext | spamassassin
      {message/mail/email/it} … {is/as/was} {spam/junk/unsolicited/bulk} | suspicion of spam | suspected spam_ | antispam
      anti spam {engine/filter/system} | likely unsolicited | unsolicited {bulk/mail/message/email} | high spam | {contains/contain/containing} … spam_
      probable spam | rejected as spam | quarantined | message filtered | filtered message | due to spam | spam message`,
  },
  {
    name: "recipient_rate",
    class: "rate",
    phrases: `{user/recipient/mailbox} … {exceeded/exceeds} … {limit/rate}_ for | message receive limit | per hour message
      {user/recipient/mailbox} … {receiving/receives} … {rate/quickly/fast/often}`,
  },
  {
    name: "message_size",
    class: "size",
    phrases: `exceeds … {maximum size/size limit/allowable limit} | exceeds the maximum | attachment size | too {large/big} | {message/mail/email/content/maximum/header/fixed/msg/data/attachment/individual header} {size/length}
      message … exceeded google | size {limit/exceed/restriction} | is too long | exceeds … {size/bytes/google s}_ | {larger/bigger} than
      nachricht zu gross | message trop {volumineux/gros} | taille … {depass/limite/maxim} | number of attachments | maximum email size`,
  },
  {
    name: "sending_rate",
    class: "rate",
    phrases: `{limit/limits/quota} for {sending/outgoing/messages/recipients} | exceeded {their/your/its} {limit/quota/sending} | maximum number of {recipients/messages/connections/sessions} | number of {recipients/connections/messages} … exceed | exceeded allowable | resources restricted | {rate/volume/frequency/throttle/traffic} {limit/limited/limiting/exceeded/control/exceed/too high} | ratelimit | throttl | rate that
      too {fast/often/frequent/quickly} | slow{/ing} down | {high/large} volume | connection {rate/limit/frequency} | separate transaction
      too many … {connection/connections/session/sessions/messages/recipients/emails/mails/requests/attempts/threads/rcpt/e mails}_
      to too many | too many {recent/invalid/same/bad/errors/concurrent} | concurrent {connections/connection/sessions} | concurren
      {limit/quota/maximum/max/threshold} … {number of/per session/per connection/per hour/per day/per minute}_ | peak smtp
      {sending/relay/daily/hourly/message/submission/recipient/connection/thread/outbound/rate/customer} {limit/quota/limits}
      {exceeding/exceeds/exceeded/reached} … {daily/hourly/thread limit/connection/recipient limit/rate/number of connections/number of recipients/number of messages/sessions}_
      {max/maximum} {messages/connections/recipients/sessions/message per} | limit for the number | limit on the number | queue quota
      out of allow rcpt | trop de {connexions/messages/destinataires} | {messages/recipients/connections} per {hour/minute/session/connection/day}`,
  },
  {
    name: "mailbox_full",
    class: "quota",
    phrases: `{disk/mailbox/storage/mail} {usage/space/size limit} … {exceeded/full} | mailbox size limit | too many messages {on the server/in the mailbox/in mailbox} | over {quota/the quota/his quota/their quota/its quota/disk quota} | overquota | exceeded … {storage/quota/mailbox size/disk space/allocation}
      {quota/storage/allocation/disk space/disk quota} … {exceeded/exceeds/exceed/full/violation/reached/insufficient}
      {mailbox/mail box/inbox/account/folder/mailfolder/maildir/user/recipient} {full/is full/is over/has no space/is too full} | mailbox … is full | full mailbox
      {insufficient/out of/not enough/no more} {storage/disk space/mailbox space/space/disk quota/quota} … {user/mailbox/recipient/account/inbox}
      out of storage | {mailbox/inbox/user/account/recipient} … {out of/insufficient/not enough/no more/lacks} {storage/space/disk/quota}
      storage limit | {disk/mail/mailbox/storage/user} quota_ | mailbox has exceeded | {blocks/inode} limit exceeded | too much mail data
      boite … pleine | quota … depasse | postfach … voll | speicherplatz | buzon … llen | casella … piena | caixa … cheia | mailbox … vol_
      {exceed/exceeds/exceeding} {their/its/his/the/mailbox/disk} {quota/size/limit} | skrzynka … pelna | ящик переполнен | 邮箱已满 | 容量满 | 空间不足`,
  },
  {
    name: "recipient_policy",
    class: "policy",
    phrases: `sender was not authenticated | not authenticated for | configured to reject | no external | external {senders/mail} … not | external forwarding | not {accept/accepting} … external | only {members/subscribers/internal} | moderated | sender … not … member | rejected due to policy | policy restrictions | not allowed to send | recipient preferences | administrative prohibition | local policy | mailpolicy | {policy/security/administrative} {reason/violation/restriction/rejection/prohibit}
      {security/spam/message/email/mail/site/company/admin} {policy/policies} | policy {that/of/rejected/error}
      rejected by {recipient/user/policy/filter/header/rule/administrator/destination/customer} | manually blocked | blocked senders
      not {in/on} … {whitelist/allowlist/allowed senders list/safe list} | requires whitelisting | {envelope/sender} {blocked/rejected} {user/block}
      only accept … {from/mail} | not accept … from {you/your/senders/external/outside/unknown} | restricted to | not in allowed senders
      {sender/senders} not {allowed/authorized/permitted} to {send/post} | not {allowed/permitted/authorized} to send to | bad helo
      account {inbounds/outbounds} disabled | block policy | authentication required for delivery | not authenticated by`,
  },
  {
    name: "sender_address",
    class: "sender",
    phrases: `{invalid/bad} dns {mx/a_/aaaa} | no {mx/a_} record … {sender/from} | domain … {sender/from address} | sending domain | sender address | ${SENDER} … ${IS_REJECTED} | sender account | sender {domain/verify/verification} | verification failed for
      {invalid/bad/unknown/denies the/unverified/unverifiable/illegal/unresolvable/no such/wrong} {sender/return path/from/mail from/originator/reverse path}
      callout | verify … {failed/sender} | {domain/host} of {sender/the sender} | unresolvable … domain | your {domain/address} … {exist/not found/invalid/resolve}
      {cannot/can t/unable to/not} … {resolve/find} your {domain/address/mx} | emetteur | expediteur | absender | remitente | mittente | remetente
      email address is not verified | from address`,
  },
  {
    name: "mailbox_locked",
    class: "disabled",
    phrases: `${MAILBOX} … {frozen/locked/suspended/temporarily disabled/on hold/temporarily inactive/not activated/not active/dormant/archived/not enabled/been blocked/is blocked/barred/under maintenance}
      {suspended/locked/frozen/blocked/dormant/archived} {user/mailbox/account/recipient} | user suspended | recipient address rejected blocked
      destinataire … {bloque/archivee/suspendu/desactive} | boite … {archivee/suspendue/desactivee/bloquee} | {konto/postfach} … {gesperrt/deaktiviert}`,
  },
  {
    name: "address_syntax",
    class: "protocol",
    phrases: `no valid recipients | synchronization error | unqualified {address/domain} | unsupported option | fully qualified | {address/recipient} … {bad/invalid/improper} {format/syntax} | illegal character | {address/mailbox/recipient/command/parameter/parameters/argument} syntax | syntax error | {bad/wrong/improper/invalid} {sequence/command} | out of sequence
      {command/verb} {not/unrecognized/unknown/parameter/unimplemented} | {unrecognized/unknown/unimplemented/unsupported/invalid/unexpected} {command/parameter/argument/verb/authentication type}
      not implemented | {helo/ehlo/hello} {first/argument/required/requires/name/invalid} | {send/need/expected/polite/issue/require/requires} {helo/ehlo/hello}
      nested mail | already specified | pipelin | protocol {error/violation} | no data after | {need/expecting/send} {rcpt/mail/data} | unauthenticated commands
      invalid address format | xoauth`,
  },
  {
    name: "mailbox_unknown",
    class: "hard",
    suppresses: true,
    phrases: `possibly incorrect | no one at this | not in our {directory/database/system} | nobody here | no longer works | does not work here | ${MAILBOX} … ${IS_UNKNOWN}
      ${UNKNOWN} ${MAILBOX_AFTER}
      {unrouteable/unroutable/undeliverable/nonexistent/unknown/no such} address_
      disabled or discontinued | not our customer | recipient address rejected access denied | no longer {on server/valid} | not a registered
      deliver mail for | destinataire … {invalide/inconnu} | {adresse/utilisateur/compte/boite} … {invalide/inconnu/inexistant/n existe}
      {empfanger/benutzer/postfach/adresse/konto/mailbox} … {unbekannt/existiert nicht/nicht gefunden/nicht vorhanden/ungultig/nicht bekannt}
      {usuario/cuenta/buzon/destinatario/direccion} … {desconocid/no existe/inexistente/no encontrad/invalid}
      {utente/casella/destinatario/indirizzo/account} … {sconosciut/non esiste/inesistente/non trovat/non valid}
      {usuario/conta/caixa/destinatario/endereco} … {inexistente/nao existe/desconhecid/invalid/nao encontrad}
      {gebruiker/ontvanger/postvak/adres} … {onbekend/bestaat niet} | нет такого {пользователя/ящика/адреса}
      {пользователь/ящик/адресат} … {не найден/не существует} | {uzytkownik/konto/skrzynka} … {nie istnieje/nieznan}
      用户不存在 | 邮箱不存在 | 收件人不存在 | 用户未找到 | 帐号不存在`,
  },
  {
    name: "mailbox_disabled",
    class: "hard",
    phrases: `extended inactivity | not currently being accepted | no longer accepting | not accepting {mail/messages} for this | mailbox … not accepting | ${MAILBOX} … {disabled/inactive/deactivated/expired/terminated/cancelled/canceled/unused/abandoned/retired}
      {disabled/inactive/deactivated/expired/cancelled/canceled/terminated} {user/mailbox/account/recipient/address/email/username}
      reach is {disabled/inactive}`,
  },
  {
    name: "mailbox_perhaps_unknown",
    class: "hard",
    phrases: `${PERHAPS_MAILBOX} … ${IS_UNKNOWN}
      ${UNKNOWN} {address/email/member/subscriber/person/student/destination}_`,
  },
  {
    name: "domain_unknown",
    class: "hard",
    phrases: `host unknown | unknown host | {invalid/unknown/no such/nonexistent/non existent} domain_ | null mx | could not be found
      domain … {not found/not exist/t exist/unknown/invalid} | no {mx/mx record/mail exchanger} {found/for domain} | no smtp service
      find a mail exchanger | lookup … host … not found | nxdomain`,
  },
  {
    name: "mailbox_unavailable",
    class: "hard",
    when: "permanent",
    suppresses: true,
    phrases: "{mailbox/recipient/user/account} {unavailable/not available/is unavailable/is not available}",
  },
  {
    name: "domain_without_email",
    class: "hard",
    when: "permanent",
    phrases: "{host/domain} … not accept {mail/email/any mail} | domain is not reachable | domain not found",
  },
  {
    name: "no_connections",
    class: "policy",
    when: "permanent",
    phrases: "not accepting connections",
  },
];
