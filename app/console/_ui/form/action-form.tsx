import type { ComponentProps, FormEvent, ReactNode } from "react";
import { DialogActions } from "../dialog/dialog-actions";
import type { ActionState } from "../use-action";
import { Button } from "./button";
import { SubmitButton } from "./form";
import { FormFault } from "./form-fault";

type Props = {
  onSubmit: (event: FormEvent<HTMLFormElement>) => unknown;
  /**
   * The action that the form starts. While it is busy, the form cannot be submitted; its error is shown below
   * the fields.
   */
  action: ActionState;
  /** In a dialog: closes it. Without it, the form is the content of a section. */
  onCancel?: () => void;
  cancelLabel?: string;
  submitLabel: string;
  /** The fields. */
  children: ReactNode;
} & Pick<ComponentProps<typeof SubmitButton>, "tone" | "disabled" | "disabledReason">;

/** A form with its fields, the error of its action and its buttons. */
export function ActionForm({ onSubmit, action, onCancel, cancelLabel = "Cancel", ...props }: Props) {
  const { submitLabel, children, ...button } = props;
  const submit = (
    <SubmitButton isBusy={action.isBusy} {...button}>
      {submitLabel}
    </SubmitButton>
  );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event);
      }}
      className={`flex flex-col gap-5 ${onCancel ? "" : "max-w-xl px-5 pb-5"}`}
    >
      {children}
      <FormFault fault={action.fault} />
      {onCancel ? (
        <DialogActions>
          <Button onClick={onCancel}>{cancelLabel}</Button>
          {submit}
        </DialogActions>
      ) : (
        <div>{submit}</div>
      )}
    </form>
  );
}
