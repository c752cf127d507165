"use client";

import { Link2 } from "lucide-react";
import { useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { Section } from "../../_ui/page/section";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ItemList, ListItem } from "./list-item";
import { useAccountQueries } from "./use-account-queries";

type Account = SignInMethodsView["accounts"][number];

/** The external accounts that the user has linked or can link. */
export function AccountsSection({ accounts }: { accounts: readonly Account[] }) {
  const trpc = useTRPC();
  const [toUnlink, setToUnlink] = useState<Account | null>(null);
  const unlinking = useAction(trpc.account.unlink.mutationOptions(), {
    done: "Account unlinked",
    refresh: useAccountQueries(),
    onDone: () => setToUnlink(null),
  });
  const close = () => {
    unlinking.reset();
    setToUnlink(null);
  };
  return (
    <Section title="External accounts" note="Sign in with an external account.">
      <ItemList label="External accounts">
        {accounts.map((account) => (
          <ListItem
            key={account.provider}
            Icon={Link2}
            title={account.name}
            actions={
              account.linked ? (
                <Button isSmall onClick={() => setToUnlink(account)}>
                  Unlink
                </Button>
              ) : null
            }
          >
            {account.linked ? (
              <span className="break-words">
                Linked to {account.linked.email}, last used <When at={account.linked.lastUsedAt} />
              </span>
            ) : (
              `Not linked. Sign in once with a ${account.name} account that has your verified email address.`
            )}
          </ListItem>
        ))}
      </ItemList>
      <Confirm
        open={toUnlink !== null}
        onOpenChange={(isOpen) => !isOpen && close()}
        title={`Unlink ${toUnlink?.name ?? "the account"}?`}
        confirmLabel="Unlink"
        isBusy={unlinking.isBusy}
        fault={unlinking.fault}
        onConfirm={() => toUnlink && unlinking.run({ provider: toUnlink.provider })}
      >
        <p>
          You can no longer sign in with it. It is linked again when you sign in with an account there that
          has your verified email address.
        </p>
      </Confirm>
    </Section>
  );
}
