import type { ReactNode } from "react";
import { Button } from "../form/button";
import type { useParts } from "../use-parts";

type Props = {
  parts: Pick<ReturnType<typeof useParts>, "state" | "stop">;
  onClose: () => void;
  /** The buttons before the start. */
  children?: ReactNode;
};

/** The buttons of a dialog with an action in parts: after its start "Stop", and "Done" at its end. */
export function PartsActions({ parts, onClose, children }: Props) {
  if (parts.state === "ready") return children;
  if (parts.state === "busy") return <Button onClick={parts.stop}>Stop</Button>;
  return (
    <Button tone="primary" onClick={onClose}>
      Done
    </Button>
  );
}
