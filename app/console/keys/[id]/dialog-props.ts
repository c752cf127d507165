import type { KeyView } from "#server/trpc/key-views";

/** What every dialog about a key is given. */
export type KeyDialogProps = {
  teamId: string;
  keyView: KeyView;
  publicUrl: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};
