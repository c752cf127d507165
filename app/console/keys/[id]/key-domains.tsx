"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import type { KeyView } from "#server/trpc/key-views";
import { Confirm } from "../../_ui/confirm";
import { faultOf } from "../../_ui/fault";
import { SelectField } from "../../_ui/form";
import { FaultNote } from "../../_ui/notes";
import { Section } from "../../_ui/section";
import { buttonStyle, iconButtonStyle } from "../../_ui/styles";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";

/** The domains that a key may send from; those who may change keys let others in and out. */
export function KeyDomains({ teamId, keyView }: { teamId: string; keyView: KeyView }) {
  const { domains, state } = keyView;
  const mayWrite = useMay()("keys:write") && state === "active";
  if (domains === "all")
    return (
      <Section title="Sends from">
        <p className="px-5 pb-5 text-soft leading-6">
          Every domain of the team, those that are added later too. For chosen domains make another key.
        </p>
      </Section>
    );
  return (
    <Section title="Sends from" note="Mail from any other domain is refused.">
      {domains.length === 0 ? (
        <p className="px-5 pb-4 text-soft leading-6">No domain is left: whatever it sends is refused.</p>
      ) : (
        <ul aria-label="Domains of the key" className="divide-y divide-line border-line border-t">
          {domains.map((domain) => (
            <LinkedDomain
              key={domain.id}
              teamId={teamId}
              keyId={keyView.id}
              domain={domain}
              mayEnd={mayWrite}
            />
          ))}
        </ul>
      )}
      {mayWrite ? <AddDomain teamId={teamId} keyView={keyView} linked={domains} /> : null}
    </Section>
  );
}

type Domain = { id: string; name: string };
type LinkedProps = { teamId: string; keyId: string; domain: Domain; mayEnd: boolean };

function LinkedDomain({ teamId, keyId, domain, mayEnd }: LinkedProps) {
  const trpc = useTRPC();
  const [isAsked, setAsked] = useState(false);
  const end = useAct(trpc.keys.unlink.mutationOptions(), {
    done: `It sends from ${domain.name} no more`,
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
  });
  return (
    <li className="flex min-h-12 items-center gap-2 py-1 pr-3 pl-5">
      <span className="min-w-0 grow wrap-anywhere">{domain.name}</span>
      {mayEnd ? (
        <>
          <button
            type="button"
            onClick={() => setAsked(true)}
            className={iconButtonStyle}
            aria-label={`Take ${domain.name} away`}
            title={`Take ${domain.name} away`}
          >
            <X className="size-4" aria-hidden="true" />
          </button>
          <Confirm
            open={isAsked}
            onOpenChange={setAsked}
            title={`Take ${domain.name} away from this key?`}
            confirmLabel="Take it away"
            isBusy={end.isBusy}
            fault={end.fault}
            onConfirm={() => end.act({ team: teamId, id: keyId, domainId: domain.id })}
          >
            <p>
              Calls that send from it are refused within a second, and mail that this key has queued from it
              is not sent any more. You can add the domain again.
            </p>
          </Confirm>
        </>
      ) : null}
    </li>
  );
}

function AddDomain({ teamId, keyView, linked }: { teamId: string; keyView: KeyView; linked: Domain[] }) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState("");
  const { data, error, refetch } = useQuery(trpc.keys.options.queryOptions({ team: teamId }));
  const link = useAct(trpc.keys.link.mutationOptions(), {
    done: "Domain added",
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
    onDone: () => setChosen(""),
  });
  const open = data?.domains.filter(({ id }) => !linked.some((each) => each.id === id)) ?? [];
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (data && open.length === 0) return null;
  return (
    <form
      className="flex items-end gap-2 border-line border-t px-5 py-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== "") link.act({ team: teamId, id: keyView.id, domainId: chosen });
      }}
    >
      <div className="min-w-0 grow">
        <SelectField label="Another domain" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <option value="">Choose a domain</option>
          {open.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <button
        type="submit"
        disabled={chosen === "" || link.isBusy}
        className={`${buttonStyle.plain} h-11 md:h-10`}
      >
        <Plus className="size-4" aria-hidden="true" /> Add
      </button>
    </form>
  );
}
