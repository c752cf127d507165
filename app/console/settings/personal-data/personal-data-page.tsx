"use client";

import { useQuery } from "@tanstack/react-query";
import { UserX } from "lucide-react";
import { useState } from "react";
import type { ErasureView } from "#server/services/erasures/request";
import { EXCEPTIONS } from "#server/shared/erasure-exceptions";
import { Confirm } from "../../_ui/dialog/confirm";
import { ActionButton } from "../../_ui/form/action-button";
import { Button } from "../../_ui/form/button";
import { TextField } from "../../_ui/form/form";
import { formatNumber } from "../../_ui/format-number";
import { Empty } from "../../_ui/list/empty";
import { Section } from "../../_ui/page/card";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const refetchMs = 15_000;

/** What is stored for a recipient: export, erasure and receipts. */
export function PersonalDataPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("people:write", "export or erase personal data");
  const list = useQuery({
    ...trpc.personalData.erasures.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
    enabled: disabledReason === undefined,
  });
  return (
    <div className="flex flex-col gap-6">
      <AddressSection teamId={teamId} disabledReason={disabledReason} />
      <Section
        title="Erasures"
        note="Workers erase the data within minutes. The receipts contain a hash of the address."
      >
        {list.data?.length ? (
          <ul className="flex flex-col divide-y divide-line px-5 pb-3">
            {list.data.map((erasure) => (
              <ErasureItem key={erasure.id} erasure={erasure} />
            ))}
          </ul>
        ) : (
          <Empty icon={UserX} title="No erased addresses" isBare>
            <p>Each erasure has a receipt here, with what was erased and when.</p>
          </Empty>
        )}
      </Section>
    </div>
  );
}

function AddressSection({ teamId, disabledReason }: { teamId: string; disabledReason: string | undefined }) {
  const trpc = useTRPC();
  const [address, setAddress] = useState("");
  const [isChecked, setChecked] = useState(false);
  const [suppresses, setSuppresses] = useState(false);
  const [isConfirming, setConfirming] = useState(false);
  const erasing = useAction(trpc.personalData.erase.mutationOptions(), {
    done: "Erasure requested",
    refresh: [trpc.personalData.erasures.queryKey()],
    onDone: () => {
      setConfirming(false);
      setAddress("");
      setChecked(false);
      setSuppresses(false);
    },
  });
  const isComplete = /^\S+@\S+$/.test(address.trim());
  return (
    <Section
      title="A person's data"
      note="Exports or erases what this team has stored for an address: emails, content, events, logs and suppressions. To remove a member of the team, use the page Members."
    >
      {/* The address is sent in the body, because URLs are recorded by proxies and in the history. */}
      <form
        method="post"
        action={`/console/settings/personal-data/export?team=${encodeURIComponent(teamId)}`}
        noValidate
        onSubmit={(event) => {
          setChecked(true);
          if (!isComplete || disabledReason !== undefined) event.preventDefault();
        }}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <TextField
          label="Email address"
          name="address"
          type="email"
          autoComplete="off"
          spellCheck={false}
          error={isChecked && !isComplete ? "Enter a full address, such as ann@example.com." : null}
          disabled={disabledReason !== undefined}
          value={address}
          onChange={({ target }) => setAddress(target.value)}
        />
        <div className="flex flex-wrap gap-2">
          <ActionButton type="submit" disabledReason={disabledReason} className={`${buttonStyle.plain} h-10`}>
            Export
          </ActionButton>
          <Button
            tone="danger"
            disabledReason={disabledReason}
            onClick={() => {
              setChecked(true);
              setConfirming(isComplete);
            }}
          >
            Erase…
          </Button>
        </div>
      </form>
      {isConfirming ? (
        <Confirm
          onOpenChange={() => {
            setConfirming(false);
            erasing.reset();
          }}
          title={`Erase ${address.trim()}?`}
          confirmLabel="Erase"
          action={erasing}
          onConfirm={() => erasing.run({ team: teamId, address: address.trim(), suppresses })}
        >
          <p>
            The address is replaced everywhere, and the content of emails to it is erased, also when others
            received the same email. Email that waits for it is canceled. This cannot be undone.
          </p>
          <p>
            In emails to others, it is replaced in texts. Their files are searched if they are texts of up to
            1 MB; the receipt has the number of the others.
          </p>
          <p>
            If it is suppressed, it stays suppressed by a hash. Backups contain it until they are deleted.
          </p>
          <p>Not changed:</p>
          <ul className="list-disc pl-5">
            {Object.values(EXCEPTIONS).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <label className="flex items-center gap-2 text-ink">
            <input
              type="checkbox"
              checked={suppresses}
              onChange={({ target }) => setSuppresses(target.checked)}
            />
            Also suppress it, so that nothing is sent to it again
          </label>
        </Confirm>
      ) : null}
    </Section>
  );
}

function ErasureItem({ erasure }: { erasure: ErasureView }) {
  const {
    address_hash,
    status,
    waiting,
    waiting_keys,
    fault,
    counts,
    files_not_searched,
    requested_at,
    done_at,
  } = erasure;
  const rows = Object.entries(counts).map(
    ([table, count]) => `${table.replaceAll("_", " ")} ${formatNumber(count)}`,
  );
  const isDone = status === "done";
  return (
    <li className="flex flex-col gap-1 py-3 leading-6">
      <span className="break-all font-mono text-xs">{address_hash}</span>
      <span>
        {isDone && done_at ? (
          <>
            Erased <When at={done_at} />
          </>
        ) : (
          <>
            In progress, requested <When at={requested_at} />
            {waiting > 0
              ? `; ${formatNumber(waiting)} ${waiting === 1 ? "email waits" : "emails wait"} for other recipients`
              : null}
            {waiting_keys > 0
              ? `; ${waiting_keys} idempotency ${waiting_keys === 1 ? "key expires" : "keys expire"} within 24 hours`
              : null}
          </>
        )}
      </span>
      {fault === null ? null : (
        <span className="text-bad">Last step failed and will be repeated: {fault}</span>
      )}
      {rows.length > 0 ? <span className="text-soft">{rows.join(", ")}</span> : null}
      {rows.length === 0 && isDone ? <span className="text-soft">Nothing was stored.</span> : null}
      {files_not_searched > 0 ? (
        <span className="text-soft">
          {files_not_searched === 1 ? "1 file" : `${files_not_searched} files`} of emails to others not
          searched
        </span>
      ) : null}
    </li>
  );
}
