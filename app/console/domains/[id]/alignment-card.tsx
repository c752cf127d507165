import type { DomainView } from "#server/trpc/domains/views";
import { cardStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";

/** The DMARC alignment of the domain: DKIM, SPF and the published policy. */
export function AlignmentCard({ domain: { alignment } }: { domain: DomainView }) {
  const { passes } = alignment;
  return (
    <section aria-labelledby="alignment" className={`${cardStyle} p-5`}>
      <div className="mb-3 flex items-center justify-between gap-3">
        <h2 id="alignment" className="font-semibold">
          DMARC alignment
        </h2>
        {passes === null ? null : (
          <Badge tone={passes ? "good" : "warn"}>{passes ? "Passes" : "Fails"}</Badge>
        )}
      </div>
      <dl className="flex flex-col gap-3 leading-6">
        {(
          [
            ["DKIM", alignment.dkim],
            ["SPF", alignment.spf],
            ["Policy", alignment.policy],
          ] as const
        ).map(([name, text]) => (
          <div key={name}>
            <dt className="text-soft text-xs">{name}</dt>
            <dd className="break-words">{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
