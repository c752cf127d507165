"use client";

import { Plus } from "lucide-react";
import type { ComponentProps, ComponentType } from "react";
import type { Permission } from "#server/shared/roles";
import { Button } from "../form/button";
import { useDisabledReason } from "../page/permission";
import { useNew } from "../use-new";

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

type Creation = Pick<Props, "label" | "permission" | "what">;

/**
 * The primary button of a list page, and the form that it opens: a dialog whose code loads while the pointer
 * is on the button. `?new=true` in the URL opens it too.
 */
export function useCreation<FormProps extends object>(
  Form: ComponentType<FormProps & { onClose: () => void }> & { preload: () => void },
  props: FormProps,
  creation: Creation,
) {
  const [isOpen, setOpen] = useNew(creation.permission);
  return {
    button: <CreateButton {...creation} preload={Form.preload} onClick={() => setOpen(true)} />,
    form: isOpen ? <Form {...props} onClose={() => setOpen(false)} /> : null,
  };
}
