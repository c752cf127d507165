import { DialogActions } from "../_ui/dialog/dialog";
import { SecretOnce } from "../_ui/dialog/secret-once";
import { Button } from "../_ui/form/button";
import { CodeBlock } from "../_ui/text/code-block";
import { tryKeyCommand } from "./new-key";
import { type Receiver, usePassKey } from "./test-key";

type Props = {
  token: string;
  publicUrl: string;
  /** The permissions of the key, and the domains that it is linked to. */
  of: { scopes: readonly string[]; domains: readonly { name: string }[] };
  /** The page to which the key is passed. */
  receiver: Receiver | null;
  onStored: () => void;
};

/**
 * The secret of a key, with a command that uses it. The secret is shown only once, and not at all if another
 * page has received it.
 */
export function NewSecret({ token, publicUrl, of: { scopes, domains }, receiver, onStored }: Props) {
  const isReceived = usePassKey(receiver, token);
  if (receiver && isReceived)
    return (
      <>
        <p role="status" className="leading-6">
          The API reference at <code className="wrap-anywhere font-mono">{receiver.page}</code> has received
          the key and filled it in. You can close this page.
        </p>
        <DialogActions>
          <Button tone="primary" onClick={onStored}>
            Done
          </Button>
        </DialogActions>
      </>
    );
  const use = { scopes, senderDomain: domains[0]?.name ?? "backstamp.test" };
  return (
    <>
      <CodeBlock text={tryKeyCommand(publicUrl, token, use)} label="Try it" language="Shell" />
      <SecretOnce secret={token} label="API key" onStored={onStored} />
    </>
  );
}
