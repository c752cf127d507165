"use client";

import { type FormEvent, useState } from "react";
import { CheckboxField, RadioCards, TextField } from "../../_ui/form/form";
import { SideCard } from "../../_ui/page/card";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { CardProps } from "./cards";

const TLS = [
  {
    value: "opportunistic",
    label: "Opportunistic",
    hint: "Email is encrypted if the receiving server supports TLS. Almost all servers do.",
  },
  {
    value: "enforced",
    label: "Enforced",
    hint: "If the receiving server does not support TLS, email is deferred and eventually fails.",
  },
  {
    value: "verified",
    label: "Verified",
    hint: "If neither DANE nor a valid certificate proves the receiving server, email is deferred and eventually fails.",
  },
] as const;

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Tracking and TLS settings of the domain. A change applies to email that is accepted after it. */
export function SettingsCard({ teamId, domain, disabledReason }: CardProps) {
  const trpc = useTRPC();
  const { id, open_tracking, click_tracking, tracking_subdomain, tls } = domain;
  const { run, isBusy } = useAction(trpc.domains.update.mutationOptions(), {
    refresh: [trpc.domains.pathKey()],
    done: "Saved",
  });
  const change = (change: Parameters<typeof run>[0]["change"]) => run({ team: teamId, id, change });
  const isDisabled = disabledReason !== undefined || isBusy;
  const isTracking = open_tracking || click_tracking;
  return (
    <SideCard title="Settings">
      {disabledReason ? <p className="mb-3 text-soft text-xs leading-5">{disabledReason}</p> : null}
      <div className="flex flex-col gap-4">
        <CheckboxField
          label="Open tracking"
          hint="Adds a one-pixel image to each email. Some mailbox providers load all images automatically, so the count is an estimate."
          checked={open_tracking}
          disabled={isDisabled}
          onChange={({ target }) => change({ openTracking: target.checked })}
        />
        <CheckboxField
          label="Click tracking"
          hint="Links in the HTML part redirect through this service."
          checked={click_tracking}
          disabled={isDisabled}
          onChange={({ target }) => change({ clickTracking: target.checked })}
        />
        {isTracking || tracking_subdomain ? (
          <Subdomain
            key={tracking_subdomain}
            value={tracking_subdomain ?? ""}
            domain={domain.name}
            isDisabled={isDisabled}
            onSave={(label) => change({ trackingSubdomain: label || null })}
          />
        ) : null}
        <RadioCards
          label="TLS"
          name="tls"
          value={tls}
          disabled={isDisabled}
          options={TLS}
          onChange={({ target }) => change({ tls: TLS.find(({ value }) => value === target.value)?.value })}
        />
      </div>
    </SideCard>
  );
}

type SubdomainProps = { value: string; domain: string; isDisabled: boolean; onSave: (label: string) => void };

function Subdomain({ value, domain, isDisabled, onSave }: SubdomainProps) {
  const [text, setText] = useState(value);
  const [error, setError] = useState<string | null>(null);
  const label = text.trim();
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (label !== "" && !LABEL.test(label))
      return setError("Enter one host name label: letters, digits and inner hyphens.");
    onSave(label.toLowerCase());
  };
  return (
    <form onSubmit={save} className="flex items-end gap-2" noValidate>
      <div className="min-w-0 grow">
        <TextField
          label="Tracking subdomain"
          hint={
            label
              ? `Tracked links use ${label}.${domain} once its CNAME record is found and it serves them over HTTPS.`
              : "Leave empty to use the host name of this service in tracked links."
          }
          error={error}
          value={text}
          disabled={isDisabled}
          placeholder="links"
          spellCheck={false}
          isMono
          onChange={({ target }) => {
            setText(target.value);
            setError(null);
          }}
        />
      </div>
      {label === value ? null : (
        <button
          type="submit"
          disabled={isDisabled}
          className={`${buttonStyle.plain} h-10 self-start md:mt-6.5`}
        >
          Save
        </button>
      )}
    </form>
  );
}
