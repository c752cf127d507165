import type { domainJson } from "#server/rest/wire/domain";

type Shown = ReturnType<typeof domainJson>;
type Check = Shown["dmarc"]["check"];

/** A domain's records and what was last seen of each, line by line, for a person; made of what the REST door says. */
export function describeDomain(domain: Shown): string[] {
  const { records, dmarc, also_checked: beside, notes } = domain;
  return [
    `Domain ${domain.name}`,
    "",
    `  Status   ${domain.status}${domain.declared_verified ? ", on the operator's word" : ""}`,
    `  Id       ${domain.id}`,
    `  Looked   ${domain.last_checked_at ?? "never"}`,
    ...describeDay(domain),
    "",
    records.length > 0 ? "Publish" : "There is nothing to publish.",
    ...records.flatMap(({ type, host, value, priority, status, check }) => [
      `  ${type} ${host}`,
      `    ${priority === undefined ? "" : `${priority} `}${value}`,
      ...describeState(status, check),
    ]),
    "",
    "Advised",
    `  ${dmarc.type} ${dmarc.host}`,
    `    ${dmarc.value}`,
    ...describeState(dmarc.status, dmarc.check),
    ...(beside.length > 0 ? ["", "Found besides"] : []),
    ...beside.flatMap(({ status, check }) => [
      `  ${check.asked_type} ${check.asked_name}`,
      ...describeState(status, check),
    ]),
    ...(notes.length > 0 ? ["", "To know"] : []),
    ...notes.map(({ about, text }) => `  ${about}: ${text}`),
  ];
}

function describeDay({ daily_cap: cap, warm_up: warmUp, today }: Shown): string[] {
  return [
    ...(cap === null ? [] : [`  Cap      ${cap} recipients a day (UTC)`]),
    ...(warmUp === null
      ? []
      : [
          `  Warm-up  from ${warmUp.start_date}: ${warmUp.first_day}, each day ${warmUp.growth_percent} % more, up to ${warmUp.target ?? cap}`,
        ]),
    ...(today.allowed === null ? [] : [`  Today    ${today.handed_over} of ${today.allowed} recipients`]),
  ];
}

function describeState(status: string, check: Check): string[] {
  if (!check) return [`    ${status}`];
  const found = check.answers.length > 0 ? check.answers.join(" | ") : "nothing";
  return [
    `    ${status}${check.fault ? `: ${check.fault}` : ""}, as ${check.resolver} tells`,
    ...(check.fault ? [`    Found: ${found}`, `    ${check.advice}`] : []),
  ];
}
