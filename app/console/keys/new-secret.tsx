import { SecretOnce } from "../_ui/dialog/secret-once";
import { CodeBlock } from "../_ui/text/code-block";
import { tryKeyCommand } from "./new-key";

type Props = {
  token: string;
  publicUrl: string;
  /** The permissions of the key, and the domains that it is linked to. */
  of: { scopes: readonly string[]; domains: readonly { name: string }[] };
  onStored: () => void;
};

/** The secret of a key, which is shown only once, with a command that uses it. */
export function NewSecret({ token, publicUrl, of: { scopes, domains }, onStored }: Props) {
  const use = { scopes, senderDomain: domains[0]?.name ?? "backstamp.test" };
  return (
    <>
      <CodeBlock text={tryKeyCommand(publicUrl, token, use)} label="Try it" language="Shell" />
      <SecretOnce secret={token} label="API key" onStored={onStored} />
    </>
  );
}
