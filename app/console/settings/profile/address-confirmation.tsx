"use client";

import { ActionForm } from "../../_ui/form/action-form";
import { Section } from "../../_ui/page/card";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** Changes the address to that of the link that led to this page. */
export function AddressConfirmation({ token, onDone }: { token: string; onDone: () => void }) {
  const trpc = useTRPC();
  const confirming = useAction(trpc.profile.confirmEmail.mutationOptions(), {
    done: ({ email }) => `Your email address is now ${email}`,
    refresh: [trpc.profile.get.queryKey(), trpc.members.list.queryKey()],
    onDone,
  });
  return (
    <Section
      title="Confirm your new email address"
      note="Your other sessions end, and links that were sent to the former address become invalid."
    >
      <ActionForm onSubmit={() => confirming.run({ token })} action={confirming} submitLabel="Change address">
        {null}
      </ActionForm>
    </Section>
  );
}
