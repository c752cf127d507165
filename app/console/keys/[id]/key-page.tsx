"use client";

import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";
import type { KeyView } from "#server/trpc/keys/keys";
import { Button } from "../../_ui/form/button";
import { Section } from "../../_ui/page/card";
import { Fact, Facts } from "../../_ui/page/facts";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { PageHeading } from "../../_ui/page/page-heading";
import { TextLink } from "../../_ui/page/page-link";
import { useDisabledReason } from "../../_ui/page/permission";
import { linkStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { formatScopes, KeyStateBadge, SCOPE_GROUPS, SCOPE_LABELS } from "../labels";
import type { KeyDialogProps } from "./dialogs";
import { Gauges } from "./gauges";
import { KeyDomains } from "./key-domains";
import KeyLoading, { BACK } from "./loading";
import { RejectedRequests } from "./rejected-requests";

const refetchMs = 15_000;

/** One key. Its last use and its state refresh automatically. */
export function KeyPage({ teamId, id, publicUrl }: { teamId: string; id: string; publicUrl: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.keys.get.queryOptions({ team: teamId, id }, { refetchInterval: refetchMs }));
  return (
    <Fetched by={query} loading={<KeyLoading />}>
      {(data) => (
        <>
          <PageHeading
            title={data.name}
            badge={<KeyStateBadge of={data} />}
            back={BACK}
            actions={<KeyActions teamId={teamId} keyView={data} publicUrl={publicUrl} />}
          />
          <div className="flex flex-col gap-6">
            <KeyFacts keyView={data} />
            {data.state === "active" ? <Gauges teamId={teamId} id={id} /> : null}
            <div className="grid items-start gap-6 lg:grid-cols-2">
              <Permissions scopes={data.scopes} />
              <KeyDomains teamId={teamId} keyView={data} />
            </div>
            <RejectedRequests teamId={teamId} id={id} counts={data.recent_refusals} />
          </div>
        </>
      )}
    </Fetched>
  );
}

const dialogs = () => import("./dialogs");
const DIALOGS = {
  rename: lazyDialog(async () => (await dialogs()).RenameKey),
  networks: lazyDialog(async () => (await dialogs()).ChangeNetworks),
  rotate: lazyDialog(async () => (await dialogs()).RotateKey),
  revoke: lazyDialog(async () => (await dialogs()).RevokeKey),
};
const ACTIONS = [
  { name: "rename", label: "Rename…" },
  { name: "networks", label: "Restrict networks…" },
  { name: "rotate", label: "Rotate…" },
  { name: "revoke", label: "Revoke…" },
] as const;

/** The actions on a key that is not revoked. The code of the dialogs loads when one is first opened. */
function KeyActions(props: Omit<KeyDialogProps, "onClose">) {
  const disabledReason = useDisabledReason()("keys:write", "change keys");
  const [opened, setOpened] = useState<keyof typeof DIALOGS | null>(null);
  const { state } = props.keyView;
  if (state === "revoked") return null;
  const Opened = opened && DIALOGS[opened];
  const expiredReason = state === "expired" ? "This key has expired. Create a new one." : undefined;
  return (
    <>
      {ACTIONS.map(({ name, label }) => (
        <Button
          key={name}
          disabledReason={disabledReason ?? (name === "rotate" ? expiredReason : undefined)}
          onClick={() => setOpened(name)}
          className={name === "revoke" ? "text-bad" : ""}
        >
          {label}
        </Button>
      ))}
      {Opened ? <Opened {...props} onClose={() => setOpened(null)} /> : null}
    </>
  );
}

/** The identifier of a key, its timestamps, and its rotation history. */
function KeyFacts({ keyView }: { keyView: KeyView }) {
  const { token_id, last_used_at, expires_at, client_networks, revokedAt, state } = keyView;
  const { predecessor, successor } = keyView;
  const endsAt = revokedAt ?? expires_at;
  return (
    <Facts>
      <Fact name="Key">
        <code className="truncate font-mono text-xs" title={`re_${token_id}_…`}>
          re_{token_id}_…
        </code>
      </Fact>
      <Fact name="Last used">{last_used_at ? <When at={last_used_at} /> : "Never"}</Fact>
      <Fact name={revokedAt ? "Revoked" : state === "expired" ? "Expired" : "Expires"}>
        {endsAt ? <When isDue at={endsAt} /> : "No expiry"}
      </Fact>
      <Fact name="Client networks">
        {client_networks.length > 0 ? (
          <code className="wrap-anywhere font-mono text-xs">{client_networks.join(", ")}</code>
        ) : (
          "Any IP address"
        )}
      </Fact>
      <Fact name="Created">
        <When at={keyView.created_at} />
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

const KeyLink = ({ id, name }: { id: string; name: string }) => (
  <TextLink to={`/console/keys/${id}`} className={`${linkStyle} truncate`} title={name}>
    {name}
  </TextLink>
);

/** The permissions of a key. */
function Permissions({ scopes }: { scopes: readonly string[] }) {
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
                <Check className="mt-1 size-4 shrink-0 text-good" />
                {SCOPE_LABELS[scope].label}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </Section>
  );
}
