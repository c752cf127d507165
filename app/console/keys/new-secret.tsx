import { SecretOnce } from "../_ui/dialog/secret-once";
import { CodeBlock } from "../_ui/text/code-block";
import { tryKeyCommand } from "./new-key";

type Props = {
  token: string;
  publicUrl: string;
  use: { scopes: readonly string[]; senderDomain: string };
  onStored: () => void;
};

/** The secret of a key, with a command that uses it. The secret is shown only once. */
export function NewSecret({ token, publicUrl, use, onStored }: Props) {
  return (
    <>
      <CodeBlock text={tryKeyCommand(publicUrl, token, use)} label="Try it" language="Shell" />
      <SecretOnce secret={token} label="API key" onStored={onStored} />
    </>
  );
}
