import { KeyRound } from "lucide-react";
import type { ComponentProps } from "react";
import { Button } from "../console/_ui/form/button";
import { signInByPasskey } from "../passkey-client";
import { openNextPage, PASSKEY_MESSAGES } from "./messages";
import type { useStep } from "./use-step";

type Props = { step: ReturnType<typeof useStep>; landing: string } & ComponentProps<typeof Button>;

/** Prompts for a passkey, signs in with it and opens `landing`. */
export function PasskeyButton({ step: { busyWith, isBusy, run }, landing, children, ...button }: Props) {
  const signIn = async () => openNextPage(await signInByPasskey(landing), PASSKEY_MESSAGES);
  return (
    <Button {...button} disabled={isBusy} onClick={() => run("passkey", signIn)}>
      <KeyRound className="size-4" aria-hidden="true" />
      {busyWith === "passkey" ? "Waiting for your passkey…" : children}
    </Button>
  );
}
