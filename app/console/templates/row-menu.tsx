"use client";

import { Copy, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { TemplateRow } from "#server/trpc/templates/templates";
import { Menu } from "../_ui/dialog/menu";
import { useDisabledReason } from "../_ui/page/permission";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { DeleteTemplate } from "./delete-template";

/** The actions for a template in the list. */
export function TemplateRowMenu({ teamId, row }: { teamId: string; row: TemplateRow }) {
  const trpc = useTRPC();
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const why = useDisabledReason()("templates:write", "change templates");
  const [isDeleting, setDeleting] = useState(false);
  const duplicate = useAction(trpc.templates.duplicate.mutationOptions(), {
    done: "Duplicated as a draft",
    refresh: [trpc.templates.list.queryKey()],
    onDone: ({ id }) => router.push(hrefOf(`/console/templates/${id}`)),
  });
  return (
    <>
      <Menu
        label={`Actions for ${row.name}`}
        items={[
          {
            label: "Duplicate",
            Icon: Copy,
            why,
            onSelect: () => duplicate.run({ team: teamId, id: row.id }),
          },
          "line",
          { label: "Delete…", Icon: Trash2, tone: "bad", why, onSelect: () => setDeleting(true) },
        ]}
      />
      {isDeleting ? (
        <DeleteTemplate teamId={teamId} template={row} onClose={() => setDeleting(false)} />
      ) : null}
    </>
  );
}
