import Link from "next/link";
import type { ReactNode } from "react";
import type { KeyView } from "#server/trpc/keys/keys";
import { cardStyle, linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { CopyButton } from "../../_ui/text/copy-button";
import { When } from "../../_ui/text/when";

/** The identifier of a key, its timestamps, and its rotation history. */
export function KeyFacts({ keyView }: { keyView: KeyView }) {
  const { token_id, created_at, last_used_at, expires_at, revokedAt, predecessor, successor, state } =
    keyView;
  const endsAt = revokedAt ?? expires_at;
  return (
    <dl className={`${cardStyle} grid grid-cols-2 gap-x-6 gap-y-5 p-5 md:grid-cols-4`}>
      <Fact name="Key">
        <span className="flex items-center gap-1">
          <code className="truncate font-mono text-xs" title={`re_${token_id}_…`}>
            re_{token_id}_…
          </code>
          <CopyButton text={`re_${token_id}_`} label="Copy the visible part of the key" />
        </span>
      </Fact>
      <Fact name="Last used">{last_used_at ? <When at={last_used_at} /> : "Never"}</Fact>
      <Fact name={revokedAt ? "Revoked" : state === "expired" ? "Expired" : "Expires"}>
        {endsAt ? <When at={endsAt} /> : "Never"}
      </Fact>
      <Fact name="Created">
        <When at={created_at} />
      </Fact>
      {predecessor ? (
        <Fact name="Replaces">
          <KeyLink {...predecessor} />
        </Fact>
      ) : null}
      {successor ? (
        <Fact name="Replaced by">
          <KeyLink {...successor} />
        </Fact>
      ) : null}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="mb-1 text-soft text-xs">{name}</dt>
      <dd className="flex min-h-8 min-w-0 items-center">{children}</dd>
    </div>
  );
}

function KeyLink({ id, name }: { id: string; name: string }) {
  const hrefOf = useConsoleHref();
  return (
    <Link href={hrefOf(`/console/keys/${id}`)} className={`${linkStyle} truncate`} title={name}>
      {name}
    </Link>
  );
}
