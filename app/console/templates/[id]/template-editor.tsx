"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { Desk } from "./desk";

type Props = { teamId: string; id: string; publicUrl: string; ownAddress: string };

/** The editor, or why there is none. */
export function TemplateEditor(props: Props) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.templates.get.queryOptions({ team: props.teamId, id: props.id }),
  );
  if (data) return <Desk {...props} />;
  if (!error) return null;
  return (
    <div className={cardStyle}>
      <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
    </div>
  );
}
