import { CodeBlock } from "../_ui/code-block";
import { SecretOnce } from "../_ui/secret-once";
import { tryKeyCommand } from "./new-key";

type Props = {
  token: string;
  publicUrl: string;
  use: { scopes: readonly string[]; senderDomain: string };
  onStored: () => void;
};

/** The secret of a key with a command that uses it, for the one time that it is shown. */
export function NewSecret({ token, publicUrl, use, onStored }: Props) {
  return (
    <>
      <CodeBlock text={tryKeyCommand(publicUrl, token, use)} label="Try it" language="Shell" />
      <SecretOnce secret={token} label="API key" onStored={onStored} />
    </>
  );
}
