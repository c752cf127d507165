/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Suppressions",
  description:
    "Addresses that this team does not send email to. Hard bounces and complaints are added automatically, except those of test addresses at backstamp.test. Email to these addresses is not sent and is shown as Suppressed.",
};
