import type { domainJson } from "#server/rest/wire/domain";

type Shown = ReturnType<typeof domainJson>;
type Check = Shown["dmarc"]["check"];

/** Formats a domain from its REST representation as lines of text: its DNS records and the last check of each. */
export function describeDomain(domain: Shown): string[] {
  const { records, dmarc, also_checked: alsoChecked, notes } = domain;
  return [
    `Domain ${domain.name}`,
    "",
    `  Status   ${domain.status}${domain.declared_verified ? " (verified manually)" : ""}`,
    `  Id       ${domain.id}`,
    `  Checked  ${domain.last_checked_at ?? "never"}`,
    ...(domain.expires_at === null ? [] : [`  Expires  ${domain.expires_at} unless verified`]),
    ...describeDay(domain),
    "",
    records.length > 0 ? "DNS records" : "No DNS records required.",
    ...records.flatMap(({ type, host, value, priority, status, check }) => [
      `  ${type} ${host}`,
      `    ${priority === undefined ? "" : `${priority} `}${value}`,
      ...describeState(status, check),
    ]),
    "",
    "Recommended",
    `  ${dmarc.type} ${dmarc.host}`,
    `    ${dmarc.value}`,
    ...describeState(dmarc.status, dmarc.check),
    ...(alsoChecked.length > 0 ? ["", "Also checked"] : []),
    ...alsoChecked.flatMap(({ status, check }) => [
      `  ${check.asked_type} ${check.asked_name}`,
      ...describeState(status, check),
    ]),
    ...(notes.length > 0 ? ["", "Notes"] : []),
    ...notes.map(({ about, text }) => `  ${about}: ${text}`),
  ];
}

function describeDay({ daily_cap: cap, warm_up: warmUp, today }: Shown): string[] {
  return [
    ...(cap === null ? [] : [`  Cap      ${cap} recipients per day (UTC)`]),
    ...(warmUp === null
      ? []
      : [
          `  Warm-up  from ${warmUp.start_date}: ${warmUp.first_day} recipients, growing ${warmUp.growth_percent}% per day, up to ${warmUp.target ?? cap}`,
        ]),
    ...(today.allowed === null ? [] : [`  Today    ${today.handed_over} of ${today.allowed} recipients`]),
  ];
}

function describeState(status: string, check: Check): string[] {
  if (!check) return [`    ${status}`];
  const found = check.answers.length > 0 ? check.answers.join(" | ") : "no record";
  return [
    `    ${status}${check.fault ? `: ${check.fault}` : ""} (resolver ${check.resolver})`,
    ...(check.fault ? [`    Found: ${found}`, `    ${check.advice}`] : []),
  ];
}
