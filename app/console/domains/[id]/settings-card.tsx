"use client";

import { type FormEvent, useState } from "react";
import { CheckboxField, RadioCards, TextField } from "../../_ui/form";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { CardProps } from "./card";

const TLS = [
  {
    value: "opportunistic",
    label: "Where the other side can",
    hint: "Encrypted with whoever offers it, which nearly everybody does.",
  },
  {
    value: "enforced",
    label: "Always",
    hint: "Mail to a server that does not prove itself over TLS waits, and at last fails.",
  },
] as const;

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** How the domain's mail is treated. Each change takes effect at once, for what is accepted from then on. */
export function SettingsCard({ teamId, domain, refresh, whyNot }: CardProps) {
  const trpc = useTRPC();
  const { id, openTracking, clickTracking, trackingSubdomain, tls } = domain;
  const { act, isBusy } = useAct(trpc.domains.update.mutationOptions(), { refresh, done: "Saved" });
  const change = (change: Parameters<typeof act>[0]["change"]) => act({ team: teamId, id, change });
  const isClosed = whyNot !== undefined || isBusy;
  const isTracking = openTracking || clickTracking;
  return (
    <section aria-labelledby="settings" className={`${cardStyle} p-5`}>
      <h2 id="settings" className="mb-3 font-semibold">
        Settings
      </h2>
      {whyNot ? <p className="mb-3 text-soft text-xs leading-5">{whyNot}</p> : null}
      <div className="flex flex-col gap-4">
        <CheckboxField
          label="Count opens"
          hint="By a picture of one pixel. Many readers load it for everybody, so take it as a hint."
          checked={openTracking}
          disabled={isClosed}
          onChange={({ target }) => change({ openTracking: target.checked })}
        />
        <CheckboxField
          label="Count clicks"
          hint="Links of the HTML part lead over this service to where they point."
          checked={clickTracking}
          disabled={isClosed}
          onChange={({ target }) => change({ clickTracking: target.checked })}
        />
        {isTracking || trackingSubdomain ? (
          <Subdomain
            key={trackingSubdomain}
            value={trackingSubdomain ?? ""}
            domain={domain.name}
            isDisabled={isClosed}
            onSave={(label) => change({ trackingSubdomain: label || null })}
          />
        ) : null}
        <RadioCards
          label="Encryption on the way"
          name="tls"
          value={tls}
          disabled={isClosed}
          options={TLS}
          onChange={({ target }) =>
            change({ tls: target.value === "enforced" ? "enforced" : "opportunistic" })
          }
        />
      </div>
    </section>
  );
}

type SubdomainProps = {
  value: string;
  domain: string;
  isDisabled: boolean;
  onSave: (label: string) => void;
};

function Subdomain({ value, domain, isDisabled, onSave }: SubdomainProps) {
  const [text, setText] = useState(value);
  const [error, setError] = useState<string | null>(null);
  const label = text.trim();
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (label !== "" && !LABEL.test(label))
      return setError("One label of a host name: letters, digits or inner hyphens.");
    onSave(label.toLowerCase());
  };
  return (
    <form onSubmit={save} className="flex items-end gap-2" noValidate>
      <div className="min-w-0 grow">
        <TextField
          label="Tracking subdomain"
          hint={
            label
              ? `Links stand under ${label}.${domain}, by a CNAME of its own.`
              : "Without one, links stand under this service's own name."
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
