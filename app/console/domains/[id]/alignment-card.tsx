import type { DomainView } from "#server/trpc/domain-views";
import { Badge } from "../../_ui/badge";
import { cardStyle } from "../../_ui/styles";

/** What receivers make of the domain's mail, in words. */
export function AlignmentCard({ domain: { alignment } }: { domain: DomainView }) {
  const { passes } = alignment;
  return (
    <section aria-labelledby="alignment" className={`${cardStyle} p-5`}>
      <div className="mb-3 flex items-center justify-between gap-3">
        <h2 id="alignment" className="font-semibold">
          For receivers (DMARC)
        </h2>
        {passes === null ? null : (
          <Badge tone={passes ? "good" : "warn"}>{passes ? "Passes" : "Would not pass"}</Badge>
        )}
      </div>
      <dl className="flex flex-col gap-3 leading-6">
        {(
          [
            ["Signature", alignment.dkim],
            ["Return path", alignment.spf],
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
