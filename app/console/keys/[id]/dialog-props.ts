import type { KeyView } from "#server/trpc/keys/views";

/** The props of every dialog about a key. */
export type KeyDialogProps = {
  teamId: string;
  keyView: KeyView;
  publicUrl: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};
