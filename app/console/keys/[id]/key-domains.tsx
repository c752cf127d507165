"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { KeyView } from "#server/trpc/keys/keys";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { SelectField } from "../../_ui/form/form";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { buttonStyle } from "../../_ui/styles";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** The domains that a key can send from. A member who can change keys can add and remove domains. */
export function KeyDomains({ teamId, keyView }: { teamId: string; keyView: KeyView }) {
  const { all_domains, domains, state } = keyView;
  const canWrite = useCan()("keys:write") && state === "active";
  if (all_domains)
    return (
      <Section title="Sending domains">
        <p className="px-5 pb-5 text-soft leading-6">
          All domains of the team, including domains added later. To restrict it to specific domains, create
          another key.
        </p>
      </Section>
    );
  return (
    <Section
      title="Sending domains"
      note="This key can send, retry, reschedule and cancel email from these domains only. Its other permissions apply to the whole team."
    >
      {domains.length === 0 ? (
        <p className="px-5 pb-4 text-soft leading-6">
          No domains. Every send request with this key is rejected.
        </p>
      ) : (
        <ul aria-label="Domains of the key" className="divide-y divide-line border-line border-t">
          {domains.map((domain) => (
            <LinkedDomain
              key={domain.id}
              teamId={teamId}
              keyId={keyView.id}
              domain={domain}
              canUnlink={canWrite}
            />
          ))}
        </ul>
      )}
      {canWrite ? <AddDomain teamId={teamId} keyView={keyView} linked={domains} /> : null}
    </Section>
  );
}

type Domain = { id: string; name: string };
type LinkedProps = { teamId: string; keyId: string; domain: Domain; canUnlink: boolean };

function LinkedDomain({ teamId, keyId, domain, canUnlink }: LinkedProps) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const unlinking = useAction(trpc.keys.unlink.mutationOptions(), {
    done: `${domain.name} removed from the key`,
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
  });
  return (
    <li className="flex min-h-12 items-center gap-2 py-1 pr-3 pl-5">
      <span className="min-w-0 grow wrap-anywhere">{domain.name}</span>
      {canUnlink ? (
        <>
          <Button
            tone="quiet"
            isSmall
            aria-label={`Remove ${domain.name}`}
            onClick={() => setConfirming(true)}
          >
            Remove
          </Button>
          <Confirm
            open={isConfirming}
            onOpenChange={setConfirming}
            title={`Remove ${domain.name} from this key?`}
            confirmLabel="Remove domain"
            action={unlinking}
            onConfirm={() => unlinking.run({ team: teamId, id: keyId, domainId: domain.id })}
          >
            <p>
              Requests that send from this domain are rejected immediately. Email that this key has queued
              from it is not sent. You can add the domain again.
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
  const options = useQuery(trpc.keys.options.queryOptions({ team: teamId }));
  const link = useAction(trpc.keys.link.mutationOptions(), {
    done: "Domain added",
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
    onDone: () => setChosen(""),
  });
  const available = options.data?.domains.filter(({ id }) => !linked.some((each) => each.id === id)) ?? [];
  if (options.data && available.length === 0) return null;
  return (
    <Fetched by={options} isBare>
      <form
        className="flex items-end gap-2 border-line border-t px-5 py-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen !== "") link.run({ team: teamId, id: keyView.id, domainId: chosen });
        }}
      >
        <div className="min-w-0 grow">
          <SelectField
            label="Add domain"
            value={chosen}
            options={[
              { value: "", label: "Choose a domain" },
              ...available.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={({ target }) => setChosen(target.value)}
          />
        </div>
        <button
          type="submit"
          disabled={chosen === "" || link.isBusy}
          className={`${buttonStyle.plain} h-11 md:h-10`}
        >
          <Plus className="size-4" /> Add
        </button>
      </form>
    </Fetched>
  );
}
