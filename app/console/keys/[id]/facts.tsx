import Link from "next/link";
import type { KeyView } from "#server/trpc/keys/keys";
import { Fact, Facts } from "../../_ui/page/facts";
import { linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { CopyButton } from "../../_ui/text/copy-button";
import { When } from "../../_ui/text/when";

/** The identifier of a key, its timestamps, and its rotation history. */
export function KeyFacts({ keyView }: { keyView: KeyView }) {
  const { token_id, created_at, last_used_at, expires_at, revokedAt, predecessor, successor, state } =
    keyView;
  const endsAt = revokedAt ?? expires_at;
  return (
    <Facts>
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
    </Facts>
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
