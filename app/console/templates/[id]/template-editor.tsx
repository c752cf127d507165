"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { cardStyle } from "../../_ui/styles";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { Editor } from "./editor";

type Props = { teamId: string; id: string; publicUrl: string; ownAddress: string };

/** Loads the template, then shows the editor or the error. */
export function TemplateEditor(props: Props) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.templates.get.queryOptions({ team: props.teamId, id: props.id }),
  );
  if (data) return <Editor {...props} />;
  if (!error) return null;
  return (
    <div className={cardStyle}>
      <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
    </div>
  );
}
