"use client";

import { Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { Suspense, useState } from "react";
import { Menu } from "../../_ui/dialog/menu";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useConsoleHref } from "../../_ui/team";
import type { CardProps } from "./card";

const RemoveDomain = lazyPart(async () => (await import("./remove-domain")).RemoveDomain);

/** The rarely used actions of a domain. */
export function MoreMenu(props: CardProps) {
  const { teamId, domain, disabledReason } = props;
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <Menu
        label={`More actions for ${domain.name}`}
        items={[
          {
            label: "Remove domain…",
            Icon: Trash2,
            tone: "bad",
            why: disabledReason,
            onSelect: () => setRemoving(true),
          },
        ]}
      />
      {isRemoving ? (
        <Suspense>
          <RemoveDomain
            teamId={teamId}
            domain={domain}
            onClose={() => setRemoving(false)}
            onRemoved={() => router.push(hrefOf("/console/domains"))}
          />
        </Suspense>
      ) : null}
    </>
  );
}
