import type { ReactNode } from "react";
import { cardStyle } from "../styles";
import { AddressText } from "../text/address";

/** The properties of an object at the top of its page, as a grid of `Fact`. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <dl className={`${cardStyle} grid grid-cols-2 gap-x-6 gap-y-5 p-5 lg:grid-cols-4`}>{children}</dl>
);

type FactProps = { name: string; width?: "half" | "full"; children: ReactNode };

export const Fact = ({ name, width, children }: FactProps) => (
  <div className={`min-w-0 ${width === "full" ? "col-span-full" : width === "half" ? "col-span-2" : ""}`}>
    <dt className="mb-1 text-soft text-xs">{name}</dt>
    <dd className="flex min-h-8 min-w-0 items-center *:min-w-0">{children}</dd>
  </div>
);

/** A value below its name, as an entry of a description list. */
export const Named = ({ name, children }: Pick<FactProps, "name" | "children">) => (
  <div>
    <dt className="text-soft text-xs">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
);

/** Names and values in two columns, for the content of a card. Entries without a value are left out. */
export const Properties = ({ entries }: { entries: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="divide-y divide-line">
    {entries.map(([name, value]) =>
      value ? (
        <div key={name} className="grid gap-x-4 px-4 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
          <dt className="wrap-anywhere text-soft">{name}</dt>
          <dd className="min-w-0 break-words">
            {typeof value === "string" ? <AddressText>{value}</AddressText> : value}
          </dd>
        </div>
      ) : null,
    )}
  </dl>
);
