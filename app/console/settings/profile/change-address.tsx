"use client";

import { useState } from "react";
import { Dialog } from "../../_ui/dialog/dialog";
import { DoneAction } from "../../_ui/dialog/dialog-actions";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { Address } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** Requests a link to a new address. `proof`: how the user confirms their identity. */
export function ChangeAddress({ proof, onClose }: { proof: string; onClose: () => void }) {
  const trpc = useTRPC();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { field, handleSubmit } = useFields({ defaultValues: { email: "", proof: "" } });
  const requesting = useAction(trpc.profile.changeEmail.mutationOptions(), {
    onDone: (_, { email }) => setSentTo(email.trim()),
  });
  const isPassword = proof.startsWith("password");
  return (
    <Dialog
      onOpenChange={onClose}
      title={sentTo === null ? "Change email address" : "Check your inbox"}
      description="A link is sent to the new address. When you open it, the address changes and your other sessions end."
    >
      {sentTo === null ? (
        <ActionForm
          onSubmit={handleSubmit((fields) => requesting.run(fields))}
          action={requesting}
          submitLabel="Send link"
          onCancel={onClose}
        >
          <TextField
            label="New email address"
            type="email"
            autoComplete="email"
            {...field("email", { validate: (text) => text.includes("@") || "Enter an email address." })}
          />
          {proof === "fresh_session" ? (
            <p className="text-soft leading-6">This is possible for 10 minutes after a sign-in.</p>
          ) : (
            <TextField
              label={isPassword ? "Current password" : "Code"}
              type={isPassword ? "password" : "text"}
              autoComplete={isPassword ? "current-password" : "one-time-code"}
              {...field("proof", {
                required: isPassword
                  ? "Enter your current password."
                  : "Enter a code from your authenticator app.",
              })}
            />
          )}
        </ActionForm>
      ) : (
        <>
          <p role="status" className="leading-6">
            A link was sent to <Address>{sentTo}</Address>. Open it in this browser within 60 minutes. Until
            then, your address stays unchanged.
          </p>
          <DoneAction onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}
