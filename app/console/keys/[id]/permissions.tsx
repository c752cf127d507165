import { Check } from "lucide-react";
import { Section } from "../../_ui/page/section";
import { formatScopes, SCOPE_GROUPS, SCOPE_LABELS } from "../key-words";

/** The permissions of a key. */
export function Permissions({ scopes }: { scopes: readonly string[] }) {
  const groups = SCOPE_GROUPS.map(({ group, scopes: all }) => ({
    group,
    granted: all.filter((scope) => scopes.includes(scope)),
  })).filter(({ granted }) => granted.length > 0);
  return (
    <Section title="Permissions" note={formatScopes(scopes)}>
      <dl className="flex flex-col gap-4 px-5 pb-5">
        {groups.map(({ group, granted }) => (
          <div key={group} className="grid gap-1 md:grid-cols-[7.5rem_minmax(0,1fr)]">
            <dt className="text-soft leading-6">{group}</dt>
            {granted.map((scope) => (
              <dd key={scope} className="flex gap-2 leading-6 md:col-start-2" title={scope}>
                <Check className="mt-1 size-4 shrink-0 text-good" aria-hidden="true" />
                {SCOPE_LABELS[scope].label}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </Section>
  );
}
