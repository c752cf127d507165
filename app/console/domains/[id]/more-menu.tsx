"use client";

import { Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { Suspense, useState } from "react";
import { lazyPart } from "../../_ui/lazy-part";
import { Menu } from "../../_ui/menu";
import { useConsoleHref } from "../../_ui/team";
import type { CardProps } from "./card";

const RemoveDomain = lazyPart(async () => (await import("./remove-domain")).RemoveDomain);

/** What is seldom done to a domain. */
export function MoreMenu(props: CardProps) {
  const { teamId, domain, whyNot } = props;
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <Menu
        label={`More for ${domain.name}`}
        items={[
          {
            label: "Remove the domain…",
            Icon: Trash2,
            tone: "bad",
            why: whyNot,
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
