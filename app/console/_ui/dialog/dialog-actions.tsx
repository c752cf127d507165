import type { ReactNode } from "react";
import { Button } from "../form/button";

/**
 * The last line of a form in a dialog: its buttons, the primary one last. It stays visible while the form
 * scrolls.
 */
export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div
      data-actions=""
      className="sticky bottom-0 z-10 -mx-5 flex flex-col-reverse gap-2 border-line border-t bg-page px-5 py-4 md:-mx-6 md:flex-row md:justify-end md:px-6"
    >
      {children}
    </div>
  );
}

/** The same for a dialog that shows a result: the only button closes it. */
export const DoneAction = ({ onClose }: { onClose: () => void }) => (
  <DialogActions>
    <Button tone="primary" onClick={onClose}>
      Done
    </Button>
  </DialogActions>
);
