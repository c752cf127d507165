"use client";

import { Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "../../_ui/lazy-part";
import { Menu } from "../../_ui/menu";
import type { CardProps } from "./card";

const RemoveDomain = lazyPart(async () => (await import("./remove-domain")).RemoveDomain);

/** What is seldom done to a domain. */
export function MoreMenu(props: CardProps) {
  const { domain, whyNot } = props;
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
          <RemoveDomain {...props} onClose={() => setRemoving(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
