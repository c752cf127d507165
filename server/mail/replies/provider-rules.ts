import type { ReplyRule } from "./rules";

/**
 * The providers' own codes, as they document them: Microsoft, Yahoo and AOL, Google, Apple, GMX and mail.com,
 * Comcast, Charter, Cox, Orange and La Poste, GoDaddy, Mail.ru, NetEase, Cloudmark, Proofpoint and Mimecast.
 * They precede all words, because pages of help that a reply names can contain any word.
 */
export const PROVIDER_RULES: readonly ReplyRule[] = [
  {
    name: "provider_greylisting",
    class: "greylist",
    when: "temporary",
    phrases: "internal resources are temporarily unavailable | tempgreylisted | ib107_",
  },
  {
    name: "provider_unknown_mailbox",
    class: "hard",
    suppresses: true,
    phrases: `nosuchuser_ | recipnotfound | recipientnotfound | exrecipnotfound | resolver adr recipientnotfound
      resolver adr exrecipnotfound | ib603_ | ib604_ | dd this user doesn t have | {ofr/lpn} … 416_`,
  },
  {
    name: "provider_disabled_mailbox",
    class: "hard",
    phrases: "disableduser_ | 554 30_ | {ofr/lpn} … {418/420}_",
  },
  {
    name: "provider_quota",
    class: "quota",
    phrases: `overquotatemp | overquotaperm | quotaexceeded_ | storagequotaexceeded | resolver rst sendsizelimit
      mailboxfull_ | ib606_ | ib608_ | {ofr/lpn} … 417_`,
  },
  {
    name: "provider_recipient_rate",
    class: "rate",
    phrases: "recipientthreadlimit | receivingrate | resolver rst recipient … limit | hourly receive limit",
  },
  {
    name: "provider_rate",
    class: "rate",
    phrases: `unsolicitedratelimiterror | ratelimit | mxrt_ | cxmxrt | cxcnct | cxthrt | rl0000 | rl0001 | rp 00
      rly b1_ | rly b3_ | rly bd_ | con b2_ | hvu b2_ | mi cel_ | rp {drc/dcr/cel/rcl/trc/qrc}_ | mi {dmc/ccl}_ | hl itc_ | hl icc_ | hl ifc_ | mi csm_
      mi cwl_ | ib006_ | ib007_ | ib101_ | ib113_ | ib507_ | ib508 rate | ib510_ | ib607_ | ib609_
      {ofr/lpn} … {103/104/105/108/109/519}_ | ib605_ | submissionquotaexceeded | {ts01/ts02/ts03/tss04/tss05/tss06/tss07}_
      rly ch4_ | mta poor`,
  },
  {
    name: "provider_reputation",
    class: "reputation",
    phrases: `blacklisted_ | cxbl | cdrbl | ipbl | rblip | ipts | ts1_ | tss | bl21_ | bl22_ | bl23_ | vs1_ | vs ip_
      vs99 | dy 00 | ou 00 | sc 00 | rly b2_ | rly ir_ | rly ob_ | rly nw_ | rly cs_ | rly ch_ | con b1_ | dyn t_ | dyn t1_
      rtr b | rtr sc_ | rtr du_ | rtr ge_ | rtr rb_ | dns b | bl00 | bl0 | ph01_ | ph02_ | as16012611 | as160126
      {ofr/lpn} … {101/102/107/501/502/503/506/510/511/513/514}_
      s3140_ | s3150_ | s3100_ | s844_ | s77714 | s775 | ib103_ | ib104_
      ib105_ | ib106_ | ib110_ | ib111_ | ib112_ | ib115_ | banned sending ip | aup i | aup o | aup in | aup out
      csi cloudmark | local ct ip reputation | hl rep_ | hl rbl_ | hme1 ip | hm07_ | hm08_`,
  },
  {
    name: "provider_auth",
    class: "auth",
    phrases: `unauthenticatedemail | cxsndr | cxdns | dm00 | dns nr_ | dns nx_ | au01_ | hl spf_ | hl dmarc_ | sid 00
      notauthorizederror | {ofr/lpn} … {401/517}_ | ib108_ | ib508_ | ib509_ | ib212 spf | ib511_ | ib512_ | hme1_ | sids_`,
  },
  {
    name: "provider_content",
    class: "content",
    phrases: `unsolicitedmessageerror | blockedmessage_ | urlbl | cxur | hvu b | hvu bl | mff_ | mff | rtr ch_ | ph000
      contentrejected | messagetransport | ib202_ | ib2 | ib504_ | ib701_ | ib702_ | ib703_ | ib704_ | ib705_ | ib7
      dt spm_ | dt sum_ | mi spb_ | mi stc_ | hl ubl | au00 | cs01 spam`,
  },
  {
    name: "provider_message_form",
    class: "content",
    phrases: "ib501_ | ib502_ | ib503_ | ib505_ | cxmj | missingheaders | rfcmessagenoncompliant | hl mfm",
  },
  {
    name: "provider_sender",
    class: "sender",
    phrases: "ib504 from | ib506_ | ib507 from | {ofr/lpn} … {403/405}_ | mi mfe_ | mi ymt_ | cxsender",
  },
  {
    name: "provider_policy",
    class: "policy",
    phrases: `cs01_ | cs02_ | ib4 | ib601_ | ib602_ | rtr rd_ | senderfilterconfig | tenantattribution | resolver rst notauthorized
      resolver rst authrequired | rcp p2_ | {ofr/lpn} … {402/630}_ | mi rly`,
  },
  {
    name: "provider_size",
    class: "size",
    phrases: "maxsizeerror | ib514_ | resolver rst recipsizelimit | resolver rst recipientsizelimit",
  },
  { name: "provider_protocol", class: "protocol", phrases: "cxsmtp | cxhelo | smtpprotocolviolation" },
];
