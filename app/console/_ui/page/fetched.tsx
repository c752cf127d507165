"use client";

import type { ReactNode } from "react";
import { faultOf } from "../fault";
import { cardStyle } from "../styles";
import { FaultNote } from "../text/notes";

type Query<Data> = { data: Data | undefined; error: unknown; refetch: () => unknown };

type Props<Data> = {
  by: Query<Data>;
  /** Shown while a child that is a function waits for its data. */
  loading?: ReactNode;
  children: ReactNode | ((data: Data) => ReactNode);
};

/** Renders its children, or the error if the query has never succeeded. A failed refetch keeps the data it has. */
export function Fetched<Data>({ by: { data, error, refetch }, loading = null, children }: Props<Data>) {
  if (error && !data)
    return (
      <div className={cardStyle}>
        <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
      </div>
    );
  if (typeof children !== "function") return children;
  return data === undefined ? loading : children(data);
}
