import { DoneAction } from "../../_ui/dialog/dialog-actions";
import { TextLink } from "../../_ui/page/page-link";
import { linkStyle } from "../../_ui/styles";

type Props = { id: string; linkLabel: string; onClose: () => void };

/** The result of a dialog that has sent an email. */
export const Accepted = ({ id, linkLabel, onClose }: Props) => (
  <>
    <p role="status" className="rounded-lg bg-good-tint px-3.5 py-2.5 text-good leading-6">
      Accepted.{" "}
      <TextLink to={`/console/emails/${id}`} onClick={onClose} className={`${linkStyle} text-good`}>
        {linkLabel}
      </TextLink>
    </p>
    <DoneAction onClose={onClose} />
  </>
);
