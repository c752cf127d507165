import type { ComponentProps } from "react";
import { ActionForm } from "../form/action-form";
import { Dialog } from "./dialog";

type Props = Omit<ComponentProps<typeof ActionForm>, "onCancel"> &
  Pick<ComponentProps<typeof Dialog>, "title" | "description" | "size"> & { onClose: () => void };

/** A dialog that consists of one form. */
export const FormDialog = ({ title, description, size = "normal", onClose, ...form }: Props) => (
  <Dialog onOpenChange={onClose} title={title} description={description} size={size}>
    <ActionForm onCancel={onClose} {...form} />
  </Dialog>
);
