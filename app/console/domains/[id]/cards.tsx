import type { DomainView } from "#server/trpc/domains/views";
import { SideCard } from "../../_ui/page/card";
import { Named } from "../../_ui/page/facts";
import { TextLink } from "../../_ui/page/page-link";
import { MessageText } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";

/**
 * Props of each card of the page. `disabledReason`: why the member cannot change the domain; undefined if
 * they can.
 */
export type CardProps = {
  teamId: string;
  domain: DomainView;
  disabledReason: string | undefined;
};

const VERDICTS = {
  passes: { tone: "good", text: "Passes" },
  no_policy: { tone: "warn", text: "No policy" },
  fails: { tone: "warn", text: "Fails" },
} as const;

/** The DMARC alignment of the domain: DKIM, SPF and the published policy. */
export function AlignmentCard({ domain: { alignment } }: { domain: DomainView }) {
  const { verdict, dkim, spf, policy } = alignment;
  return (
    <SideCard
      title="DMARC alignment"
      actions={verdict && <Badge tone={VERDICTS[verdict].tone}>{VERDICTS[verdict].text}</Badge>}
    >
      <dl className="flex flex-col gap-3 leading-6">
        {Object.entries({ DKIM: dkim, SPF: spf, Policy: policy }).map(([name, text]) => (
          <Named key={name} name={name}>
            <MessageText>{text}</MessageText>
          </Named>
        ))}
      </dl>
    </SideCard>
  );
}

const SCOPES: Record<DomainView["relays"][number]["scope"], string> = {
  domain: "for this domain",
  team: "for this team",
  everybody: "for the whole installation",
};

/** The API keys that can send from the domain, and the relays that it uses. */
export function UsersCard({ domain: { keys, relays } }: { domain: DomainView }) {
  return (
    <SideCard title="Used by">
      <dl className="flex flex-col gap-4">
        <Named name="API keys">
          {keys.length === 0 ? (
            <p className="leading-6">
              None yet. <TextLink to="/console/keys">Add the domain to a key</TextLink>, or create one.
            </p>
          ) : (
            <ul className="flex flex-col gap-1">
              {keys.map(({ id, name, isForAll }) => (
                <li key={id} className="flex items-baseline justify-between gap-3">
                  <span className="min-w-0 truncate">{name}</span>
                  {isForAll ? <span className="shrink-0 text-soft text-xs">all domains</span> : null}
                </li>
              ))}
            </ul>
          )}
        </Named>
        <Named name="Relays">
          {relays.length === 0 ? (
            <p className="leading-6">None. Email uses the default transport of this server.</p>
          ) : (
            <ol className="flex flex-col gap-1">
              {relays.map(({ name, host, scope }) => (
                <li key={name}>
                  <span className="break-words">{name}</span>{" "}
                  <span className="text-soft text-xs">
                    {SCOPES[scope]}, at <span className="wrap-anywhere font-mono">{host}</span>
                  </span>
                </li>
              ))}
            </ol>
          )}
          <p className="mt-1 text-soft text-xs leading-5">
            The operator adds relays under Installation, Relays.
          </p>
        </Named>
      </dl>
    </SideCard>
  );
}
