"use client";

import { DropdownMenu } from "radix-ui";
import { useId } from "react";
import { type MenuItem, type MenuProps, menuButtonFace, menuButtonProps } from "./menu";

/** The style of all menus. */
export const menuStyle = {
  box: "z-60 min-w-48 max-w-72 rounded-xl border border-line bg-page p-1.5 text-sm shadow-lg motion-safe:animate-[fade-in_100ms_ease-out]",
  item: "flex min-h-9 cursor-pointer select-none items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-[disabled]:cursor-default data-[highlighted]:bg-mute-tint data-[disabled]:text-soft data-[disabled]:opacity-60 max-md:min-h-11",
  label: "px-2.5 pt-2 pb-1 text-soft text-xs",
  line: "mx-1 my-1.5 h-px bg-line",
} as const;

/** The menu. It is open as soon as its code is loaded. Not modal: the page behind stays accessible. */
export function OpenMenu(props: MenuProps) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger {...menuButtonProps(props)}>{menuButtonFace(props)}</DropdownMenu.Trigger>
      {/* A portal prevents clipping by the parent; it must stay inside the `main` landmark. */}
      <DropdownMenu.Portal container={document.querySelector("main")}>
        <DropdownMenu.Content
          align={props.align ?? "end"}
          sideOffset={6}
          collisionPadding={8}
          className={menuStyle.box}
        >
          {props.items.map((item, place) =>
            item === "line" ? (
              <DropdownMenu.Separator key={`line-${String(place)}`} className={menuStyle.line} />
            ) : (
              <Item key={item.id ?? item.label} {...item} />
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

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
        className={`group flex-wrap opacity-70 ${menuStyle.item}`}
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
      className={`${menuStyle.item} ${tone === "bad" ? "text-bad" : ""}`}
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
