"use client";

import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { type ComponentProps, type ComponentType, useId } from "react";

export type MenuItem =
  | {
      label: string;
      /** Required when two items have the same label. */
      id?: string;
      Icon?: ComponentType<{ className?: string }>;
      tone?: "bad";
      /**
       * Why the user cannot use the item. It then does nothing, and shows the reason while it has the focus.
       */
      why?: string | undefined;
      onSelect?: () => void;
      /** Alternative to `onSelect`: the URL of a page or a download. */
      href?: string;
    }
  | "line";

export type MenuProps = {
  /** The accessible name of the menu: "Actions for Shop". */
  label: string;
  items: readonly MenuItem[];
  /** A choice of one value, above the items. */
  choice?: {
    label: string;
    options: readonly { value: string; label: string }[];
    value: string;
    onChange: (value: string) => void;
  };
  /** Choices that are each on or off, above the items. The menu stays open. */
  marks?: {
    options: readonly { value: string; label: string }[];
    values: readonly string[];
    onChange: (values: string[]) => void;
  };
  /** Whether the menu is rendered beside its button, not in `main`. */
  isInline?: boolean;
  /** The content and the name of the button, the same as before the code of the menu was loaded. */
  button: ComponentProps<"button">;
  /** The edge of the button that the menu is aligned with. */
  align?: "start" | "end";
};

const itemStyle =
  "flex min-h-9 cursor-pointer select-none items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-[disabled]:cursor-default data-[highlighted]:bg-mute-tint data-[disabled]:text-soft data-[disabled]:opacity-60 max-md:min-h-11";

/** The menu. It is open as soon as its code is loaded. Not modal: the page behind stays accessible. */
export function OpenMenu({ button, choice, marks, items, align = "end", isInline }: MenuProps) {
  const content = (
    <DropdownMenu.Content
      align={align}
      sideOffset={6}
      collisionPadding={8}
      className="z-60 min-w-48 max-w-72 rounded-xl border border-line bg-page p-1.5 text-sm shadow-lg motion-safe:animate-[fade-in_100ms_ease-out]"
    >
      {choice ? <Choice {...choice} /> : null}
      {marks ? <Marks {...marks} /> : null}
      {items.map((item, place) =>
        item === "line" ? (
          <DropdownMenu.Separator key={`line-${String(place)}`} className="mx-1 my-1.5 h-px bg-line" />
        ) : (
          <Item key={item.id ?? item.label} {...item} />
        ),
      )}
    </DropdownMenu.Content>
  );
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger {...button} />
      {isInline ? (
        content
      ) : (
        // A portal prevents clipping by the parent; it must stay inside the `main` landmark.
        <DropdownMenu.Portal container={document.querySelector("main")}>{content}</DropdownMenu.Portal>
      )}
    </DropdownMenu.Root>
  );
}

const Choice = ({ label, options, value, onChange }: NonNullable<MenuProps["choice"]>) => (
  <>
    <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-soft text-xs">{label}</DropdownMenu.Label>
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
      {options.map((option) => (
        <DropdownMenu.RadioItem key={option.value} value={option.value} className={`${itemStyle} pl-9`}>
          <DropdownMenu.ItemIndicator className="-ml-6.5">
            <Check className="size-4" />
          </DropdownMenu.ItemIndicator>
          {option.label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  </>
);

const Marks = ({ options, values, onChange }: NonNullable<MenuProps["marks"]>) =>
  options.map(({ value, label }) => (
    <DropdownMenu.CheckboxItem
      key={value}
      checked={values.includes(value)}
      onSelect={(event) => event.preventDefault()}
      onCheckedChange={(isOn) =>
        onChange(
          options.flatMap((option) =>
            (option.value === value ? isOn : values.includes(option.value)) ? option.value : [],
          ),
        )
      }
      className={`${itemStyle} pl-9`}
    >
      <DropdownMenu.ItemIndicator className="-ml-6.5">
        <Check className="size-4" />
      </DropdownMenu.ItemIndicator>
      {label}
    </DropdownMenu.CheckboxItem>
  ));

function Item({ label, Icon, tone, why, onSelect, href }: Exclude<MenuItem, "line">) {
  const id = useId();
  const face = (
    <>
      {Icon ? (
        <span aria-hidden="true" className="shrink-0">
          <Icon className="size-4" />
        </span>
      ) : null}
      <span className="truncate">{label}</span>
    </>
  );
  if (why !== undefined)
    return (
      <DropdownMenu.Item
        aria-disabled
        aria-label={label}
        aria-describedby={id}
        onSelect={focusOnly}
        className={`group flex-wrap opacity-70 ${itemStyle}`}
      >
        {face}
        <span id={id} className="hidden basis-full text-xs leading-5 group-data-[highlighted]:block">
          {why}
        </span>
      </DropdownMenu.Item>
    );
  return (
    <DropdownMenu.Item
      {...(onSelect ? { onSelect } : {})}
      {...(href ? { asChild: true } : {})}
      className={`${itemStyle} ${tone === "bad" ? "text-bad" : ""}`}
    >
      {href ? <a href={href}>{face}</a> : face}
    </DropdownMenu.Item>
  );
}

/** On touch screens there is no hover: pressing the item focuses it, which shows the reason. */
function focusOnly(event: Event): void {
  event.preventDefault();
  if (event.target instanceof HTMLElement) event.target.focus();
}
