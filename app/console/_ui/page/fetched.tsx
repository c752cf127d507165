"use client";

import type { ReactNode } from "react";
import { shownFaultOf } from "../fault";
import { cardStyle } from "../styles";
import { FaultNote } from "../text/notes";

type Query<Data> = { data: Data | undefined; error: unknown; refetch: () => unknown };

type Props<Data> = {
  by: Query<Data>;
  /** Shown while a child that is a function waits for its data. */
  loading?: ReactNode;
  /** Inside a card: the error gets none of its own. */
  isBare?: boolean;
  children: ReactNode | ((data: Data) => ReactNode);
};

/**
 * Renders its children, or the error if the query has never succeeded. A failed refetch keeps the data it
 * has.
 */
export function Fetched<Data>({ by, loading = null, isBare, children }: Props<Data>) {
  const { data, error, refetch } = by;
  const fault = data ? null : shownFaultOf(error);
  if (fault)
    return (
      <div className={isBare ? "" : cardStyle}>
        <FaultNote fault={fault} onRetry={() => void refetch()} />
      </div>
    );
  if (typeof children !== "function") return children;
  return data === undefined ? loading : children(data);
}
