"use client";

import { Plus } from "lucide-react";
import type { ComponentProps } from "react";
import type { Permission } from "#server/shared/roles";
import { Button } from "../form/button";
import { useDisabledReason } from "../page/permission";

type Props = {
  /** "Create key". */
  label: string;
  /** The permission that it requires, and what that permits: "create keys". */
  permission: Permission;
  what: string;
  /** Loads the code of the form while the pointer is on the button. */
  preload?: () => void;
} & Pick<ComponentProps<typeof Button>, "Icon" | "onClick">;

/** The primary button of a list page. Without the permission, it shows why it is unavailable. */
export const CreateButton = ({ label, permission, what, preload, Icon = Plus, onClick }: Props) => (
  <Button
    tone="primary"
    Icon={Icon}
    disabledReason={useDisabledReason()(permission, what)}
    onPointerEnter={preload}
    onClick={onClick}
  >
    {label}
  </Button>
);
