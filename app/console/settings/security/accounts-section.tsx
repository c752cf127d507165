"use client";

import { Link2 } from "lucide-react";
import { useState } from "react";
import type { LocksView } from "#server/trpc/account-views";
import { Confirm } from "../../_ui/confirm";
import { Section } from "../../_ui/section";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import { LineItem, LineList } from "./line-item";
import { useAccountQueries } from "./use-account-queries";

type Account = LocksView["accounts"][number];

/** Accounts elsewhere by which the reader signs in, and those that they could link. */
export function AccountsSection({ accounts }: { accounts: readonly Account[] }) {
  const trpc = useTRPC();
  const [asked, setAsked] = useState<Account | null>(null);
  const unlinking = useAct(trpc.account.unlink.mutationOptions(), {
    done: "Account unlinked",
    refresh: useAccountQueries(),
    onDone: () => setAsked(null),
  });
  const close = () => {
    unlinking.reset();
    setAsked(null);
  };
  return (
    <Section title="Accounts elsewhere" note="Sign in by an account that you have already.">
      <LineList label="Accounts elsewhere">
        {accounts.map((account) => (
          <LineItem
            key={account.provider}
            Icon={Link2}
            title={account.name}
            actions={
              account.linked ? (
                <button
                  type="button"
                  onClick={() => setAsked(account)}
                  className={`${buttonStyle.plain} h-9`}
                >
                  Unlink
                </button>
              ) : null
            }
          >
            {account.linked ? (
              <span className="break-words">
                Linked by {account.linked.email}, used <When at={account.linked.lastUsedAt} />
              </span>
            ) : (
              `Not linked. Sign in with ${account.name} once, by an account with your verified address here.`
            )}
          </LineItem>
        ))}
      </LineList>
      <Confirm
        open={asked !== null}
        onOpenChange={(isOpen) => !isOpen && close()}
        title={`Unlink ${asked?.name ?? "the account"}?`}
        confirmLabel="Unlink it"
        isBusy={unlinking.isBusy}
        fault={unlinking.fault}
        onConfirm={() => asked && unlinking.act({ provider: asked.provider })}
      >
        <p>
          It opens nothing here until it is linked again, which happens when somebody signs in by an account
          there that has your verified address.
        </p>
      </Confirm>
    </Section>
  );
}
