import type { ReplyRule } from "./rules";

/** Phrases that servers use for many reasons. They count only if the enhanced code does not name a reason. */
export const VAGUE_RULES: readonly ReplyRule[] = [
  {
    name: "later",
    class: "soft",
    when: "temporary",
    phrases: `temporar | try again | later_ | unavailable | time out | timeout | timed out | internal | resources | busy
      connection expired | overload | out of memory`,
  },
  {
    name: "connection_words",
    class: "soft",
    phrases: "connection {refused/timed out/failed/timeout/closed} | message expired",
  },
  {
    name: "spam_words",
    class: "content",
    phrases: "spam | unsolicited | content_ | ube_ | uce_ | junk | offensive | suspicious_",
  },
  {
    name: "policy_words",
    class: "policy",
    phrases: `policy | policies | access denied | not allowed | not permitted | not authorized | prohibited | permission
      prohibits | restricted | restriction | blocked | block_ | client host rejected | refuses | refused | unauthorized
      rejected by destination | allowed hosts | badrcptto | ers customized | whitelist | allowlist | authrequired | access_`,
  },
  {
    name: "address_words",
    class: "hard",
    phrases: `address rejected | recipient address | invalid address | bad destination
      for one or more recipients | {recipient/user/mailbox/rcpt} … {rejected/denied/refused/not accepted}`,
  },
  {
    name: "system_words",
    class: "soft",
    phrases: `temporar | try again | later_ | service unavailable | service currently unavailable | not accepting connections
      timed out | timeout | message expired | expired | system config | local error | too many hops | loop | internal error
      {dns/name server/lookup} … {error/failed/failure} | misconfigured | incorrectly configured | storage | system error | queue
      multiple retries | giving up | not accept our requests to connect | failing for a long time | delivery failed … attempts
      not reachable | connection was dropped | connection … {lost/reset}`,
  },
  {
    name: "protocol_words",
    class: "protocol",
    phrases:
      "syntax | bad sequence | improper sequence | not implemented | unrecognized | command | parameter",
  },
];
