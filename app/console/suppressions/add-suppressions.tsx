"use client";

import { FormDialog } from "../_ui/dialog/form-dialog";
import { TextAreaField } from "../_ui/form/form";
import { filled, useFields } from "../_ui/form/use-fields";
import { formatCount, formatNumber } from "../_ui/format-number";
import { AddressText } from "../_ui/text/address";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

const charsMax = 50_000;

/** Adds one or more addresses to the suppression list. */
export function AddSuppressions({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const { field, handleSubmit, setValue } = useFields({ defaultValues: { text: "" } });
  const adding = useAction(trpc.suppressions.add.mutationOptions(), {
    done: formatAdded,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: ({ rejected }) => {
      if (rejected.length === 0) onClose();
      // Only the rejected lines stay, for correction.
      else setValue("text", rejected.map(({ text }) => text).join("\n"));
    },
  });
  const rejected = adding.result?.rejected ?? [];
  return (
    <FormDialog
      onClose={onClose}
      title="Suppress addresses"
      description="This team no longer sends email to these addresses, with any API key. Such email is accepted and gets the status “suppressed”."
      onSubmit={handleSubmit(({ text }) => adding.run({ team: teamId, text }))}
      action={adding}
      cancelLabel={rejected.length > 0 ? "Close" : "Cancel"}
      submitLabel="Suppress"
    >
      <TextAreaField
        label="Addresses"
        hint="One per line, or separated by commas. For thousands of addresses, import a CSV file."
        placeholder={"ann@example.com\nben@example.net"}
        rows={6}
        isMono
        spellCheck={false}
        autoComplete="off"
        maxLength={charsMax}
        {...field("text", filled("Enter at least one address."))}
      />
      {rejected.length > 0 ? (
        <section aria-label="Not added" className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <p className="font-medium">Not valid addresses:</p>
          <ul>
            {rejected.map(({ text, reason }) => (
              <li key={text} className="break-words">
                <code className="font-mono text-xs">
                  <AddressText>{text}</AddressText>
                </code>
                : {reason}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </FormDialog>
  );
}

type AddResult = { added: number; changed: number; existing: number };

/** "2 addresses suppressed, 1 already on the list". */
export function formatAdded({ added, changed, existing }: AddResult): string {
  const parts = [
    added === 0 ? "" : `${formatCount(added, "address", "addresses")} suppressed`,
    changed === 0 ? "" : `${formatNumber(changed)} now suppressed for all email`,
    existing === 0 ? "" : `${formatNumber(existing)} already on the list`,
  ].filter(Boolean);
  return parts.join(", ") || "No addresses added";
}
