"use client";

import { type LucideIcon, Plus } from "lucide-react";
import type { Permission } from "#server/shared/roles";
import { ActionButton } from "../form/action-button";
import { useDisabledReason } from "../page/permission";
import { buttonStyle } from "../styles";

type Props = {
  /** "Create key". */
  label: string;
  /** The permission that it requires, and what that permits: "create keys". */
  permission: Permission;
  what: string;
  Icon?: LucideIcon;
  /** Loads the code of the form while the pointer is on the button. */
  preload?: () => Promise<unknown>;
  onClick: () => void;
};

/** The primary button of a list page. Without the permission, it shows why it is unavailable. */
export function CreateButton({ label, permission, what, Icon = Plus, preload, onClick }: Props) {
  return (
    <ActionButton
      disabledReason={useDisabledReason()(permission, what)}
      onPointerEnter={() => void preload?.().catch(() => {})}
      onClick={onClick}
      className={`${buttonStyle.primary} h-10`}
    >
      <Icon className="size-4" aria-hidden="true" /> {label}
    </ActionButton>
  );
}
