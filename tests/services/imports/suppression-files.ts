import type { List, ProviderName } from "#server/services/suppressions/import/providers";

/*
 * Files and API responses of providers. They are written for these tests after the shapes that the sources
 * named in server/services/suppressions/import/providers.ts document; no provider's data is copied.
 */

/** A file, and what its import adds to the list. */
export type SuppressionFile = {
  title: string;
  from: ProviderName;
  list?: List;
  text: string;
  added: ReturnType<typeof row>[];
  /** Other counts of the report that are not 0. */
  counts?: Partial<Record<"other" | "repeated" | "skipped", number>>;
};

const row = (address: string, origin: string, at: string | null, lists_only = false) => ({
  ...{ address, origin, lists_only, at },
});
const suppressed = (EmailAddress: string, SuppressionReason: string, Origin: string, CreatedAt: string) => ({
  ...{ EmailAddress, SuppressionReason, Origin, CreatedAt },
});
const json = (value: unknown) => JSON.stringify(value, null, 2);

export const SUPPRESSION_FILES: SuppressionFile[] = [
  {
    title: "SendGrid bounces as CSV",
    from: "sendgrid",
    list: "bounces",
    text: 'status,reason,email,created\n5.1.1,"550 5.1.1 unknown, ""gone""",Gone@sg.example,1700000000\n',
    added: [row("gone@sg.example", "bounce", "2023-11-14T22:13:20.000Z")],
  },
  {
    title: "SendGrid global unsubscribes as JSON",
    from: "sendgrid",
    list: "unsubscribes",
    text: json([{ created: 1_700_000_100, email: "left@sg.example" }]),
    added: [row("left@sg.example", "unsubscribe", "2023-11-14T22:15:00.000Z")],
  },
  {
    title: "SendGrid group unsubscribes, which their rows show",
    from: "sendgrid",
    text: json([{ email: "news@sg.example", group_id: 4, group_name: "News", created_at: 1_700_000_200 }]),
    added: [row("news@sg.example", "unsubscribe", "2023-11-14T22:16:40.000Z", true)],
  },
  {
    title: "Postmark's dump of a stream",
    from: "postmark",
    text: json({
      Suppressions: [
        suppressed("gone@pm.example", "HardBounce", "Recipient", "2019-12-17T08:58:33-05:00"),
        suppressed("spam@pm.example", "SpamComplaint", "Recipient", "2020-01-01T00:00:00Z"),
        suppressed("left@pm.example", "ManualSuppression", "Recipient", "2020-01-02T00:00:00Z"),
        suppressed("never@pm.example", "ManualSuppression", "Customer", "2020-01-03T00:00:00Z"),
      ],
    }),
    added: [
      row("gone@pm.example", "bounce", "2019-12-17T13:58:33.000Z"),
      row("left@pm.example", "unsubscribe", "2020-01-02T00:00:00.000Z", true),
      row("never@pm.example", "manual", "2020-01-03T00:00:00.000Z"),
      row("spam@pm.example", "complaint", "2020-01-01T00:00:00.000Z"),
    ],
  },
  {
    title: "the joined output of two calls of the AWS CLI",
    from: "ses",
    text: `${json({
      SuppressedDestinationSummaries: [
        {
          EmailAddress: "gone@ses.example",
          Reason: "BOUNCE",
          LastUpdateTime: "2021-04-05T06:07:08.123000+00:00",
        },
        { EmailAddress: "spam@ses.example", Reason: "COMPLAINT", LastUpdateTime: 1_617_602_828.5 },
      ],
      NextToken: "more",
    })}\n${json({ SuppressedDestinationSummaries: [{ EmailAddress: "last@ses.example", Reason: "BOUNCE", LastUpdateTime: null }] })}`,
    added: [
      row("gone@ses.example", "bounce", "2021-04-05T06:07:08.123Z"),
      row("last@ses.example", "bounce", null),
      row("spam@ses.example", "complaint", "2021-04-05T06:07:08.500Z"),
    ],
  },
  {
    title: "Mailgun bounces as CSV",
    from: "mailgun",
    text: 'address,code,error,created_at\ngone@mg.example,550,No such mailbox,"Fri, 21 Oct 2011 11:02:55 GMT"\n',
    added: [row("gone@mg.example", "bounce", "2011-10-21T11:02:55.000Z")],
  },
  {
    title: "Mailgun unsubscribes as JSON, from everything and from tags",
    from: "mailgun",
    text: json({
      items: [
        { address: "all@mg.example", tags: ["*"], created_at: "Fri, 18 Oct 2024 18:28:14 UTC" },
        { address: "tag@mg.example", tags: ["news"], created_at: "Mon, 01 Jan 0001 00:00:00 UTC" },
        { address: "tag@mg.example", tags: ["offers"], created_at: "Fri, 18 Oct 2024 18:28:14 UTC" },
      ],
      paging: { next: "https://api.mailgun.net/v3/mg.example/unsubscribes?page=next" },
    }),
    added: [
      row("all@mg.example", "unsubscribe", "2024-10-18T18:28:14.000Z"),
      row("tag@mg.example", "unsubscribe", null, true),
    ],
    counts: { repeated: 1 },
  },
  {
    title: "Mailgun complaints, whose rows show no list",
    from: "mailgun",
    list: "complaints",
    text: "address,created_at\nspam@mg.example,2024-10-18 18:28:14\n",
    added: [row("spam@mg.example", "complaint", "2024-10-18T18:28:14.000Z")],
  },
  {
    title: "Resend's suppressions as JSON",
    from: "resend",
    text: json({
      object: "list",
      has_more: false,
      data: [
        {
          id: "1",
          email: "gone@rs.example",
          origin: "bounce",
          source_id: null,
          created_at: "2026-01-31T12:00:00.000Z",
        },
        {
          id: "2",
          email: "never@rs.example",
          origin: "manual",
          source_id: null,
          created_at: "2026-02-01T12:00:00.000Z",
        },
      ],
    }),
    added: [
      row("gone@rs.example", "bounce", "2026-01-31T12:00:00.000Z"),
      row("never@rs.example", "manual", "2026-02-01T12:00:00.000Z"),
    ],
  },
  {
    title: "Resend's contacts as CSV",
    from: "resend",
    text: "id,created_at,first_name,last_name,email,unsubscribed\n1,2026-01-31 12:00:00+00,Ann,,left@rs.example,true\n2,,Ben,,stays@rs.example,false\n",
    added: [row("left@rs.example", "unsubscribe", "2026-01-31T12:00:00.000Z", true)],
    counts: { other: 1 },
  },
];
